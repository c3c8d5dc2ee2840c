# One row a function that is long or deep: lines, nesting, path:line, name. Counts all in a last row.
function report(last) {
  seen++
  size = last - start[open] + 1
  if (long <= size || deep <= nesting[open]) printf "%d\t%d\t%s:%d\t%s\n", size, nesting[open], file, start[open], title[open]
  if (blocks < base[open]) base[open] = blocks
  blocks = base[open]
  open--
}
function begin(line, at, body) {
  open++
  start[open] = line; margin[open] = at; nesting[open] = 0; base[open] = blocks; entered[open] = body; title[open] = named($0)
}
function named(text) {
  sub(/^[ \t]*func *\([^)]*\) */, "func ", text)
  if (match(text, /(^|[ \t])(fn|def|func|fun|function|sub)[ *]+[^ \t(<:{*]+/)) {
    text = substr(text, RSTART, RLENGTH)
    sub(/^.*[ *]/, "", text)
    return text
  }
  if (match(text, /(const|let|var) +[A-Za-z_$][A-Za-z0-9_$]*/)) {
    text = substr(text, RSTART, RLENGTH)
    sub(/^.* /, "", text)
    return text
  }
  if (match(text, /[A-Za-z_~$][A-Za-z0-9_:~$]* *\(/)) {
    text = substr(text, RSTART, RLENGTH - 1)
    sub(/ +$/, "", text)
    return text
  }
  return "?"
}
function block(at) {
  while (0 < blocks && at <= blockat[blocks]) blocks--
}
function push(at) {
  blocks++
  blockat[blocks] = at
  if (0 < open && nesting[open] < blocks - base[open]) nesting[open] = blocks - base[open]
}
# Follows the triple quotes of Python, so that a text is not taken for code.
function strings(rest,   mark, at) {
  while (rest != "") {
    if (quoted != "") {
      at = index(rest, quoted)
      if (!at) return
      rest = substr(rest, at + 3)
      quoted = ""
      continue
    }
    if (!match(rest, /"""|\047\047\047|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|#/)) return
    mark = substr(rest, RSTART, RLENGTH)
    if (mark == "#") return
    rest = substr(rest, RSTART + RLENGTH)
    if (mark == "\"\"\"" || mark == "\047\047\047") quoted = mark
  }
}
function finish() {
  while (0 < open) report(code)
}
FNR == 1 {
  finish()
  file = FILENAME; blocks = 0; code = 0; quoted = ""; guess = 0
  python = file ~ /\.pyi?$/
  keyword = python || file ~ /\.(rs|go|php|kt|kts|swift|scala|js|jsx|mjs|cjs|ts|tsx|vue|svelte)$/
  typed = file ~ /\.(c|h|cc|cpp|cxx|hh|hpp|hxx|m|mm|java|cs|dart|js|jsx|mjs|cjs|ts|tsx|sh|bash)$/
}
/^[ \t\r]*$/ { next }
{
  match($0, /^[ \t]*/)
  at = RLENGTH
  if (index($0, "\t")) at = at + 3 * gsub(/\t/, "\t", $0)
  first = substr($0, RLENGTH + 1, 1)
}
python {
  if (quoted != "" || index($0, "\"\"\"") || index($0, "\047\047\047")) {
    inside = quoted != ""
    strings($0)
    if (inside) { code = FNR; next }
  }
  if (first == "#") next
  while (0 < open && at <= margin[open] && index(")]}", first) == 0) report(code)
  block(at)
  if ($0 ~ /^[ \t]*(async +)?def +[^ \t(]/) begin(FNR, at, 1)
  else if ($0 ~ /^[ \t]*(async +)?(if|elif|else|for|while|try|except|finally|with|match|case)[ (:].*:[ \t]*(#.*)?$/ || $0 ~ /^[ \t]*(else|try|finally) *:/) push(at)
  code = FNR
  next
}
first == "/" || first == "*" || first == "#" { if (first != "/" || $0 ~ /^[ \t]*\/[\/*]/) next }
{
  sub(/[ \t\r]+$/, "")
  opens = $0 ~ /\{([ \t]*\/[\/*].*)?$/
  if (first == "}") {
    block(at)
    while (0 < open && at < margin[open]) report(code)
    if (0 < open && at == margin[open] && entered[open]) { report(FNR); code = FNR; guess = 0; if (opens) push(at); next }
  }
  else if (first != "{" || 0 < open && at < margin[open]) block(at)
  while (0 < open && at < margin[open] && first != ")") report(code)
  code = FNR
  if (0 < open && !entered[open]) {
    if (opens) entered[open] = 1
    else if ($0 ~ /;$/) open--
    next
  }
  header = 0
  if (keyword && $0 ~ /^[ \t]*([a-z(:)]+ +)*(extern "[^"]*" +)?(fn|func|function|fun|def)[ *]+[^ \t=:;,.)]/) header = 1
  else if (keyword && opens && $0 ~ /^[ \t]*(export +)?(const|let|var) +[A-Za-z_$0-9]+[^=]*= *(async *)?(function|\(|[A-Za-z_$0-9]+ *=)/) header = 1
  else if (typed && opens && $0 ~ /^[ \t]*[A-Za-z_~].*\(/ && $0 !~ /[=.] *[A-Za-z_]* *\(|=[^=]|=>|^[ \t]*(if|else|for|foreach|while|do|switch|case|catch|try|return|new|throw|using|lock|synchronized|with|class|struct|enum|interface|record|namespace|typedef|extern|import|describe|it|test)[ (]/) header = 1
  if (header) {
    if ($0 ~ /[;}]$/) { guess = 0; next }
    begin(FNR, at, opens)
    next
  }
  if (typed && $0 == substr($0, 1, at) "{" && guess && guessat == at) {
    line = FNR
    open++
    start[open] = guess; margin[open] = at; nesting[open] = 0; base[open] = blocks; entered[open] = 1; title[open] = guessname
    guess = 0
    next
  }
  if (opens) push(at)
  if (typed && !guess && $0 ~ /^[ \t]*[A-Za-z_~].*\(/ && $0 !~ /[;{}=]$|=[^=]/ && $0 !~ /^[ \t]*(if|else|for|foreach|while|do|switch|case|catch|return|using|lock|synchronized|class|struct|enum|interface|namespace|typedef)[ (]/) { guess = FNR; guessat = at; guessname = named($0) }
  else if (at <= guessat || opens) guess = 0
}
END { finish(); printf "0\t0\t%d\n", seen }
