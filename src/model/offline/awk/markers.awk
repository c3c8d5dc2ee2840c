# Reads path, line and text of each line with a marker, divided by \001: counts, and the places.
# Comments of the product's code come before those of tests, examples and foreign code, and both
# before lines that only speak of markers; within each, the urgent ones come first. ASIDE stands for
# the pattern of such paths.
function is_comment(before) {
  return before ~ /(#|\/\/[\/!]?|\/\*+|^[ \t]*\*|--+|;|%|\"\"\"|\(\*|\{-)[ \t@(\[]*$/
}
{
  mark = index($0, "\001")
  if (!mark) next
  path = substr($0, 1, mark - 1)
  sub(/^\.\//, "", path)
  rest = substr($0, mark + 1)
  if (!match(rest, /^[0-9]+[:\001]/)) next
  line = substr(rest, 1, RLENGTH - 1)
  text = substr(rest, RLENGTH + 1)
  lines++
  if (path != last) files++
  last = path
  rank = 3
  before = ""
  comment = 0
  rest = text
  while (match(rest, /TODO|FIXME|HACK|XXX/)) {
    word = substr(rest, RSTART, RLENGTH)
    if (1 < RSTART) before = substr(rest, RSTART - 1, 1)
    rest = substr(rest, RSTART + RLENGTH)
    if (before !~ /[A-Za-z0-9_]/ && rest !~ /^[A-Za-z0-9_]/) {
      count[word]++
      if (is_comment(substr(text, 1, length(text) - length(rest) - length(word)))) comment = 1
      if (word == "FIXME") rank = 1
      else if (word != "TODO" && rank == 3) rank = 2
    }
    before = substr(word, length(word))
  }
  if (!comment) rank += 6
  else if (path ~ /ASIDE/) rank += 3
  held[rank]++
  gsub(/[ \t]+/, " ", text)
  if (held[rank] <= most) row[rank, held[rank]] = path ":" line ":" substr(text, 1, 160)
}
END {
  printf "count\t%d\t%d\n", lines, files
  for (word in count) printf "word\t%d\t%s\n", count[word], word
  for (rank = 1; rank <= 9; rank++)
    for (i = 1; i <= held[rank] && shown < most; i++) if ((rank, i) in row) { print "place\t" row[rank, i]; shown++ }
}
