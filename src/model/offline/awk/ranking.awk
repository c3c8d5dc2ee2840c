# Counts the functions that are too long and too deep, and prints the worst of both kinds.
# The rows come sorted by length.
$1 == 0 { all += $3; next }
long <= $1 {
  longs++
  if (longs <= most) print "long\t" $0
}
deep <= $2 {
  deeps++
  if (top < $2) top = $2
  held[$2]++
  if (held[$2] <= most) row[$2, held[$2]] = $0
}
END {
  for (level = top; deep <= level; level--)
    for (i = 1; i <= held[level] && i <= most && shown < most; i++) { print "deep\t" row[level, i]; shown++ }
  printf "count\t%d\t%d\t%d\n", all, longs, deeps
}
