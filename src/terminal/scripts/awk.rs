//! `awk` programs: lexed, so that none starts a program, opens a file or sees the environment.
//!
//! What can do harm has a name (`system`, `getline`, …) or is one of `|`, `>`, `@`. Where such a
//! thing stands in a string, in a regular expression or in a comment it is harmless; where the
//! reading is not certain (a `/` that may divide or begin an expression), the program is refused.

use crate::terminal::refusal::Refusal;

/// Names that reach outside of the program.
const NAMES: [(&str, &str); 9] = [
    ("system", "starts a program"),
    ("getline", "reads from another file or program"),
    ("ENVIRON", "is the environment, which is empty here"),
    ("PROCINFO", "is the state of the process"),
    ("ARGV", "changes which files are read"),
    ("ARGC", "changes which files are read"),
    ("SYMTAB", "reaches every variable by name"),
    ("FUNCTAB", "reaches every function by name"),
    ("extension", "loads code"),
];

/// Refuses a program that does more than compute and print.
pub(in crate::terminal) fn check(program: &str) -> Result<(), Refusal> {
    let mut lexer = Lexer { program, at: 0, before: Before::Operator, doubtful: false };
    let mut danger: Option<Refusal> = None;
    let mut print: Option<usize> = None;
    let mut depth = 0_usize;
    while let Some(token) = lexer.next()? {
        let problem = match token {
            Token::Name(name) => {
                if matches!(name, "print" | "printf") {
                    print = Some(depth);
                }
                NAMES
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, effect)| refused(name, effect))
            }
            Token::Other("(" | "[") => {
                depth += 1;
                None
            }
            Token::Other(")" | "]") => {
                depth = depth.saturating_sub(1);
                None
            }
            Token::Other(";" | "}" | "{") => {
                print = None;
                depth = 0;
                None
            }
            // A line break in parentheses ends nothing.
            Token::Newline => {
                print = print.filter(|_| depth > 0);
                None
            }
            Token::Other(">") if print.is_some_and(|base| depth <= base) => {
                Some(refused(">", "writes a file after `print`").advice(
                    "Leave it out: what is printed is shown; put a comparison in parentheses: \
                     `print (a > b)`",
                ))
            }
            Token::Other(">>") => Some(refused(">>", "writes a file")),
            Token::Other("|" | "|&") => Some(refused("|", "starts a program").advice(
                "Leave the pipe out of the program and write it in the line: `awk … | sort`",
            )),
            Token::Other("@") => Some(refused("@", "calls by name or loads code")),
            Token::Other(_) | Token::Value => None,
        };
        danger = danger.or(problem);
    }
    if let Some(refusal) = danger {
        return Err(refusal);
    }
    if lexer.doubtful && may_be_dangerous(program) {
        return Err(Refusal::new(
            "/",
            "may divide or begin a regular expression, and the program holds what would do harm in \
             one of the two readings",
        )
        .advice(
            "Put the expression in parentheses: `($0 ~ /a|b/)`, or match with `grep -E` first",
        ));
    }
    Ok(())
}

/// Returns whether an operand is an assignment: `name=value`.
pub(in crate::terminal) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|character: char| character.is_ascii_digit())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        && NAMES.iter().all(|(known, _)| *known != name)
}

fn refused(word: &str, effect: &str) -> Refusal {
    Refusal::new(word, format!("{effect}, and an `awk` program here only computes and prints"))
        .advice(
            "Programs like `awk '{print $1}' FILE` work; pipes and redirects stand outside of them",
        )
}

/// Returns whether anything of the program could do harm if it were read differently.
fn may_be_dangerous(program: &str) -> bool {
    NAMES.iter().any(|(name, _)| program.contains(name))
        || program.contains(['|', '@'])
        || (program.contains('>') && program.contains("print"))
}

enum Token<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// A number, a string, or a regular expression.
    Value,
    /// A line break that ends a statement.
    Newline,
    /// An operator or a bracket.
    Other(&'a str),
}

/// What stands before a `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operator, or nothing: a regular expression begins.
    Operator,
    /// An operand: it divides.
    Operand,
    /// A `)`, `++`, `length`: it depends.
    Unclear,
    /// A comma, an opening brace, `&&`, `||`, `?`, `:`: a line break does not end the statement.
    Open,
}

struct Lexer<'a> {
    program: &'a str,
    at: usize,
    before: Before,
    doubtful: bool,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<Token<'a>>, Refusal> {
        loop {
            let rest = &self.program[self.at..];
            let Some(character) = rest.chars().next() else { return Ok(None) };
            match character {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if rest.starts_with("\\\n") => {
                    let glued = self.at > 0
                        && self.program[..self.at].ends_with(is_name)
                        && rest[2..].starts_with(is_name);
                    if glued {
                        return Err(refused("\\", "splits a name over two lines"));
                    }
                    self.at += 2;
                }
                '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
                '\n' => {
                    self.at += 1;
                    if self.before != Before::Open {
                        self.before = Before::Operator;
                        return Ok(Some(Token::Newline));
                    }
                }
                '"' => return self.string().map(Some),
                '/' => return self.slash().map(Some),
                '0'..='9' | '.' if begins_number(rest) => return self.number(rest).map(Some),
                _ if is_name(character) => return Ok(Some(self.name(rest))),
                _ => return Ok(Some(self.operator(rest))),
            }
        }
    }

    fn string(&mut self) -> Result<Token<'a>, Refusal> {
        let mut escaped = false;
        for (index, character) in self.program[self.at..].char_indices().skip(1) {
            match character {
                '"' if !escaped => {
                    self.at += index + 1;
                    self.before = Before::Operand;
                    return Ok(Token::Value);
                }
                '\n' if !escaped => break,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        Err(Refusal::new(self.program, "is an `awk` program with a string that does not end")
            .form("awk '{print $1}' FILE"))
    }

    fn slash(&mut self) -> Result<Token<'a>, Refusal> {
        match self.before {
            Before::Operand => {}
            Before::Unclear => self.doubtful = true,
            Before::Operator | Before::Open => return self.regex(),
        }
        let divides = if self.program[self.at..].starts_with("/=") { 2 } else { 1 };
        let text = &self.program[self.at..self.at + divides];
        self.at += divides;
        self.before = Before::Operator;
        Ok(Token::Other(text))
    }

    fn regex(&mut self) -> Result<Token<'a>, Refusal> {
        let mut escaped = false;
        let mut bracket: Option<usize> = None;
        let text = &self.program[self.at..];
        for (index, character) in text.char_indices().skip(1) {
            match (character, bracket) {
                ('\n', _) => break,
                _ if escaped => escaped = false,
                ('\\', _) => escaped = true,
                // The programs differ on a `/` in brackets, so both readings must be harmless.
                ('/', Some(_)) => self.doubtful = true,
                ('/', None) => {
                    self.at += index + 1;
                    self.before = Before::Operand;
                    return Ok(Token::Value);
                }
                ('[', None) => bracket = Some(index),
                (']', Some(start)) if !matches!(&text[start + 1..index], "" | "^") => {
                    bracket = None;
                }
                _ => {}
            }
        }
        Err(Refusal::new(self.program, "is an `awk` program with an expression that does not end")
            .form("awk '/pattern/ {print $1}' FILE"))
    }

    /// Reads a number. To `awk` a name may follow it without a blank: `1system("x")`.
    fn number(&mut self, rest: &'a str) -> Result<Token<'a>, Refusal> {
        let digits = |from: usize, also: char| {
            let end = |character: char| !character.is_ascii_digit() && character != also;
            rest[from..].find(end).map_or(rest.len(), |length| from + length)
        };
        let mut end = digits(0, '.');
        if let Some(exponent) = rest[end..].strip_prefix(['e', 'E']) {
            let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if signed.starts_with(|character: char| character.is_ascii_digit()) {
                end = digits(rest.len() - signed.len(), '0');
            }
        }
        if let Some(glued) = rest[end..].chars().next().filter(|character| is_name(*character)) {
            return Err(refused(
                &format!("{}{glued}…", &rest[..end]),
                "is a number and a name in one",
            )
            .advice("Put a blank between the number and the name"));
        }
        self.at += end;
        self.before = Before::Operand;
        Ok(Token::Value)
    }

    fn name(&mut self, rest: &'a str) -> Token<'a> {
        let name = &rest[..rest.find(|character| !is_name(character)).unwrap_or(rest.len())];
        self.at += name.len();
        self.before = match name {
            "print" | "printf" | "return" | "in" | "exit" | "case" => Before::Operator,
            "do" | "else" => Before::Open,
            "length" | "getline" => Before::Unclear,
            _ => Before::Operand,
        };
        Token::Name(name)
    }

    fn operator(&mut self, rest: &'a str) -> Token<'a> {
        const LONG: [&str; 17] = [
            "**=", "|&", "||", "&&", "==", "!=", "<=", ">=", ">>", "++", "--", "+=", "-=", "*=",
            "%=", "^=", "**",
        ];
        let text = LONG.iter().find(|operator| rest.starts_with(*operator)).map_or_else(
            || &rest[..rest.chars().next().map_or(0, char::len_utf8)],
            |operator| &rest[..operator.len()],
        );
        self.at += text.len();
        self.before = match text {
            ")" | "++" | "--" | "$" => Before::Unclear,
            "]" => Before::Operand,
            // To some `awk` the two halves of a choice may begin a line of their own.
            "," | "{" | "&&" | "||" | "?" | ":" => Before::Open,
            _ => Before::Operator,
        };
        Token::Other(text)
    }
}

fn begins_number(text: &str) -> bool {
    text.strip_prefix('.').unwrap_or(text).starts_with(|next: char| next.is_ascii_digit())
}

/// Names are of ASCII: whatever else stands before one is no part of it.
fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_compute_and_print_are_allowed() {
        for program in [
            "{print}",
            "1",
            "NR==1",
            "/a/",
            "!/a/ && /b/",
            "/a|b/{print $1}",
            "$1 ~ /x>y/",
            "$3 > 5",
            "$3>5{print}",
            "{if ($1 > 2) print $2; else print \"x > y | z\"}",
            "{print ($1 > 2)}",
            "{print($1>2?\"a\":\"b\")}",
            "{ x = $1 / $2 / 3; print x }",
            "{print $1/2, $2/3}",
            "END{print s/NR}",
            "{a[$1]/=2}",
            "{ gsub(/[|]/, \" \"); print }",
            "{ n = split($0, p, \"|\") }",
            "{print \"system\"}",
            "# system(\"x\")\n{print}",
            "/getline/ {c++} END {print c}",
            "{print $1 \"\\\"|\" $2}",
            "BEGIN {while (i++ < 5) print i}",
            "{for (i = NF; i > 0; i--) printf \"%s \", $i; print \"\"}",
            "function f(x) { return x > 2 }\n{print f($1)}",
            "length > 30",
            "length($0) > 30 {print length}",
            "{ $1 = \"\"; print substr($0, 2) }",
            "a || b",
            "{x ||= 1}",
            "{print $(NF-1)}",
            "{print -x}",
            "filesystem > 3",
            "{print $1\n if ($2 > 3) print $3}",
            "{ print a,\n  b }",
            "BEGIN{OFS=\"\\t\"} {print $1,$2}",
            "NR%2",
            "{y = x++ + 1}",
            "{x = 1e5 + 1.5e-3 + .5 + 2.}",
            "{print 1 2, 3\"a\"}",
            "{print \"é\" $1}",
        ] {
            assert_eq!(check(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn programs_that_reach_outside_are_refused() {
        for program in [
            "{print > \"x\"}",
            "{print $1 > $2}",
            "{print $1, $2 > \"x\"}",
            "{print ($1) > \"x\"}",
            "{printf(\"a\") > \"x\"}",
            "{print a[1 > 2] > \"x\"}",
            "{print >> \"x\"}",
            "{print $1,\n$2 > \"x\"}",
            "{print (1\n) > \"x\"}",
            "{print \\\n> \"x\"}",
            "{if (x) print y > \"z\"}",
            "{print x > y ? 1 : 2}",
            "{print x ?\n1 : 2 > \"x\"}",
            "{print x ? 1 :\n2 > \"x\"}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "{\"ls\" | getline}",
            "BEGIN{system(\"ls\")}",
            "BEGIN{system (\"ls\")}",
            "{getline < \"x\"}",
            "{while ((getline l) > 0) print l}",
            "{print ENVIRON[1]}",
            "BEGIN{ARGV[1]=\"x\"}",
            "BEGIN{ARGC=1}",
            "{print PROCINFO[1]}",
            "BEGIN{f=\"x\"; @f()}",
            "@load \"x\"",
            "@include \"x\"",
            "{SYMTAB[\"x\"]=1}",
            "BEGIN{extension(\"x\")}",
            "/a/ {print > \"b/c\"}",
            "{x = 1 / 2; print > \"/\"}",
            "{x = (1) /2; print | \"a/\"}",
            "{length / 1; system(\"/\")}",
            "{x++ / 1; system(\"/\")}",
            "{print \"a",
            "/a",
            "{print /[/]|/}; {print | \"x\"}",
            "#x\nBEGIN{system(1)}",
            "{sys\\\ntem(1)}",
            "{a = \"\\\\\"; system(1)}",
            "/\\\\/ {system(1)}",
            "{x = 1system(1)}",
            "{x = 1.5system(1)}",
            "{x = .5system(1)}",
            "{x = 1e5system(1)}",
            "{x = 1e+5system(1)}",
            "{x = 0x1system(1)}",
            "{x = $1system(1)}",
            "{print 1getline}",
            "{1print > \"x\"}",
            "{x = 2ENVIRON[1]}",
            "{x = ésystem(1)}",
        ] {
            assert!(check(program).is_err(), "{program}");
        }
    }

    #[test]
    fn an_assignment_is_a_name_and_a_value() {
        for (text, expected) in [
            ("x=1", true),
            ("_a1=", true),
            ("1x=2", false),
            ("a/b=c", false),
            ("=x", false),
            ("x", false),
            ("ARGV=x", false),
        ] {
            assert_eq!(is_assignment(text), expected, "{text}");
        }
    }
}
