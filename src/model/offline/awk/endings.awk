# Counts paths by their ending.
{
  n = split($0, part, "/")
  name = part[n]
  if (match(name, /.\.[A-Za-z0-9_+-]+$/)) ending = tolower(substr(name, RSTART + 2))
  else if (name ~ /^(Make|Docker|Container|Jenkins|Rake|Gem|Brew|Vagrant|Proc)file$/) ending = name
  else ending = "-"
  sum[ending]++
}
END { for (ending in sum) printf "%d\t%s\n", sum[ending], ending }
