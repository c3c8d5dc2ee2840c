# Counts paths by their first folder below `skip` folders.
{
  n = split($0, part, "/")
  name = "."
  if (skip + 1 < n) name = part[skip + 1] "/"
  count[name]++
}
END { for (name in count) printf "%d\t%s\n", count[name], name }
