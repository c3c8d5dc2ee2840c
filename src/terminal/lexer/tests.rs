use pretty_assertions::assert_eq;

use super::characters::MOST_CHARACTERS;
use super::*;

/// Reads a line and writes its tokens down: words in `[]`, what was quoted in `'`.
fn written(line: &str) -> String {
    let token = |token: &Token| match token {
        Token::Word(word) => {
            let piece = |piece: &Piece| {
                if piece.quoted { format!("'{}'", piece.text) } else { piece.text.clone() }
            };
            format!("[{}]", word.pieces.iter().map(piece).collect::<String>())
        }
        Token::Operator(operator, _) => format!("{operator:?}"),
        Token::Redirect(operator, _) => format!("{operator:?}"),
    };
    match lex(line) {
        Ok(tokens) => tokens.iter().map(token).collect::<Vec<_>>().join(" "),
        Err(refusal) => format!("refused {}", refusal.word),
    }
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(written(line), expected, "{line:?}");
}

#[test]
fn words_are_divided_by_blanks_and_glued_by_quotes() {
    check("ls -la src", "[ls] [-la] [src]");
    check("a'b c'\"d e\"f", "[a'b cd e'f]");
    check("'' \"\"", "[''] ['']");
    check("a\\ b \\'", "[a' 'b] [''']");
    check("中文 'é'", "[中文] ['é']");
    check("a\tb", "[a] [b]");
}

#[test]
fn double_quotes_keep_backslashes_that_escape_nothing() {
    check(r#""a\nb\\c\"d\$e\`f""#, r#"['a\nb\c"d$e`f']"#);
    check("\"a\\\nb\"", "['ab']");
}

#[test]
fn a_dollar_is_only_refused_where_a_shell_would_replace_it() {
    check("grep foo$ 'a$b'", "[grep] [foo'$'] ['a$b']");
    check("\"end$\"", "['end$']");
    check("echo $HOME", "refused $HOME");
    check("echo \"$HOME\"", "refused $HOME");
    check("echo ${HOME}", "refused ${");
    check("echo $(ls)", "refused $(");
    check("echo $'a'", "refused $'");
    check("echo $\"a\"", "refused $\"");
    check("echo $?", "refused $?");
    check("echo $[1]", "refused $[");
    check("echo \"$[1]\"", "refused $[");
    check("echo $\\\nHOME", "refused $");
    check("echo `ls`", "refused `…`");
    check("echo \"`ls`\"", "refused `…`");
}

#[test]
fn operators_join_and_what_is_no_operator_of_ours_is_refused() {
    check("a|b&&c||d;e\nf", "[a] Pipe [b] And [c] Or [d] Semicolon [e] Newline [f]");
    check("a &\\\n& b", "[a] And [b]");
    check("a & b", "refused &");
    check("a;;b", "refused ;;");
    check("a |& b", "refused |&");
    check("(a)", "refused (");
    check("f(){ ls; }", "refused f(");
}

#[test]
fn redirects_know_their_stream() {
    check("a >/dev/null 2>/dev/null", "[a] Output [/dev/null] Messages [/dev/null]");
    check("a 2>&1 1>&2", "[a] MessagesToOutput OutputToMessages");
    check("a >&2", "[a] OutputToMessages");
    check("a &>/dev/null", "[a] Both [/dev/null]");
    check("a >>/dev/null", "[a] Output [/dev/null]");
    check("a<b", "[a] Input [b]");
    check("a 2 >b", "[a] [2] Output [b]");
    check("a'2'>b", "[a'2'] Output [b]");
    check("a 3>b", "refused 3>");
    check("a 2>&3", "refused 2>&3");
    check("a 2>&-", "refused 2>&-");
    check("a >| b", "refused >|");
    check("a <<E", "refused <<");
    check("a <<< b", "refused <<");
    check("a <(b)", "refused <(");
    check("a <>b", "refused <>");
    check("a 3<b", "refused <");
    check("a {b}<c", "refused {b}");
    check("a {b[\"1\"]}>/dev/null", "refused {b[\"1\"]}");
    check("a {b} <c {}<c x{b}<c", "[a] [{b}] Input [c] [{}] Input [c] [x{b}] Input [c]");
}

#[test]
fn comments_begin_at_a_word_and_end_at_the_line() {
    check("a # b\nc", "[a] Newline [c]");
    check("a#b '#c'", "[a#b] ['#c']");
    check("a # b\\\nc", "[a] Newline [c]");
    check("a\\\n#b", "[a#b]");
}

#[test]
fn a_continued_line_glues_a_word() {
    check("l\\\ns -l\\\na", "[ls] [-la]");
    check("ls \\\n -la", "[ls] [-la]");
    check("ls \\", "refused \\");
}

#[test]
fn braces_are_refused_where_a_shell_would_expand_them() {
    check("find {} +", "[find] [{}] [+]");
    check("git show HEAD@{1} x^{tree} stash@{0}", "[git] [show] [HEAD@{1}] [x^{tree}] [stash@{0}]");
    check("'{a,b}'", "['{a,b}']");
    check("git diff @{u}..HEAD x{a},b", "[git] [diff] [@{u}..HEAD] [x{a},b]");
    check("ls {a,b", "[ls] [{a,b]");
    check("ls x{}a,b}", "refused x{}a,b}");
    check("ls {a}{b,c}", "refused {a}{b,c}");
    check("ls {{a},b}", "refused {{a},b}");
    check("ls {a,b}", "refused {a,b}");
    check("echo {1..3}", "refused {1..3}");
    check("echo a{b,'c'}", "refused a{b,'c'}");
}

#[test]
fn a_tilde_is_the_workspace_or_refused() {
    check("ls ~ ~/src a~ HEAD~1", "[ls] [~] [~/src] [a~] [HEAD~1]");
    check("ls ~root", "refused ~root");
    check("ls ~+", "refused ~+");
    check("ls ~'x'", "refused ~'x'");
    check("echo a=~/x", "refused a=~/x");
    check("echo --a=~/x", "[echo] [--a=~/x]");
    check("ls '~root'", "[ls] ['~root']");
}

#[test]
fn a_quotation_must_be_closed() {
    check("echo 'a", "refused '");
    check("echo \"a", "refused \"");
    check("echo \"a\\\"", "refused \"");
}

#[test]
fn nobody_can_hide_characters_in_a_line() {
    for hidden in [
        '\0',
        '\u{7}',
        '\r',
        '\u{1b}',
        '\u{7f}',
        '\u{85}',
        '\u{a0}',
        '\u{ad}',
        '\u{200b}',
        '\u{202e}',
        '\u{2028}',
        '\u{2066}',
        '\u{3000}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{e0041}',
        '\u{e0101}',
    ] {
        let refusal = lex(&format!("echo 'a{hidden}b'")).unwrap_err();
        assert_eq!(refusal.word, hidden.to_string());
        assert!(!refusal.for_model().contains(hidden), "{:x}", u32::from(hidden));
    }
}

#[test]
fn a_line_may_be_long_but_not_endless() {
    assert!(lex(&"a".repeat(MOST_CHARACTERS)).is_ok());
    assert!(lex(&"中".repeat(MOST_CHARACTERS)).is_ok());
    let refusal = lex(&"a".repeat(MOST_CHARACTERS + 1)).unwrap_err();
    assert!(refusal.reason.contains("8001 characters"), "{}", refusal.reason);
}
