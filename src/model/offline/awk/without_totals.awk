# Drops the totals that `wc` prints after each batch: a row named so whose number is the sum.
{
  n = $1
  sub(/^ *[0-9]+ /, "")
  if ($0 == "total" && n == sum && 1 < k) { sum = 0; k = 0; next }
  sum += n
  k++
  print n "\t" $0
}
