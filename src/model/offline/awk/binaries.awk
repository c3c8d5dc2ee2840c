# Reads bytes and path of each file as `wc -c` prints them: counts them, and names the first ones
# and the large ones. A row named `total` whose number is the sum is a total.
{
  bytes = $1
  sub(/^ *[0-9]+ /, "")
  if ($0 == "total" && bytes == sum && 1 < batch) { sum = batch = 0; next }
  sum += bytes
  batch++
  sub(/^\.\//, "")
  count++
  if (count <= most) print "name\t" bytes "\t" $0
  if (large <= bytes && larges < 20) { larges++; print "large\t" bytes "\t" $0 }
}
END { printf "count\t%d\t*\n", count }
