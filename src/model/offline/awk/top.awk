# Keeps the `most` rows with the largest numbers in front, in the order of the rest where numbers
# are equal; with `tally`, the rows are names and the number is how often each comes. (`sort` needs
# a place to write to when there is much to sort, and there is none.)
function keep(value, name,   i) {
  if (most <= size && (value < number[size] || value == number[size] && rest[size] < name)) return
  if (size < most) size++
  for (i = size; 1 < i && (number[i - 1] < value || number[i - 1] == value && name < rest[i - 1]); i--) {
    number[i] = number[i - 1]
    rest[i] = rest[i - 1]
  }
  number[i] = value
  rest[i] = name
}
tally {
  if ($0 != "") count[$0]++
  next
}
{
  value = $1 + 0
  sub(/^[0-9]+\t/, "")
  rows++
  keep(value, $0)
}
END {
  for (name in count) { rows++; keep(count[name], name) }
  for (i = 1; i <= size; i++) printf "%d\t%s\n", number[i], rest[i]
  printf "rows\t%d\n", rows
}
