# Reads lines, bytes and path of each file as `wc -lc` prints them, and sums up: lines by ending,
# the longest files, the largest ones. A row named `total` whose numbers are the sums is a total.
function keep(list, size, name, value,   i) {
  if (most <= size && value <= number[list, most]) return size
  if (size < most) size++
  for (i = size; 1 < i && number[list, i - 1] < value; i--) {
    number[list, i] = number[list, i - 1]
    path[list, i] = path[list, i - 1]
  }
  number[list, i] = value
  path[list, i] = name
  return size
}
{
  lines = $1
  bytes = $2
  sub(/^ *[0-9]+ +[0-9]+ /, "")
  if ($0 == "total" && lines == linesum && bytes == bytesum && 1 < batch) { linesum = bytesum = batch = 0; next }
  linesum += lines
  bytesum += bytes
  batch++
  all += lines
  sub(/^\.\//, "")
  n = split($0, part, "/")
  name = part[n]
  # A name that does not fit on a line is printed in quotes.
  if ($0 ~ /^\047/) sub(/\047$/, "", name)
  if (match(name, /.\.[A-Za-z0-9_+-]+$/)) ending = tolower(substr(name, RSTART + 2))
  else if (name ~ /^(Make|Docker|Container|Jenkins|Rake|Gem|Brew|Vagrant|Proc)file$/) ending = name
  else ending = "-"
  sum[ending] += lines
  longs = keep("long", longs, $0, lines)
  if (large <= bytes) larges = keep("large", larges, $0, bytes)
}
END {
  printf "all\t%d\t*\n", all
  for (i = 1; i <= longs; i++) printf "long\t%d\t%s\n", number["long", i], path["long", i]
  for (i = 1; i <= larges; i++) printf "large\t%d\t%s\n", number["large", i], path["large", i]
  for (ending in sum) if (0 < sum[ending]) printf "sum\t%d\t%s\n", sum[ending], ending
}
