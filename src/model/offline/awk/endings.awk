# Counts paths by their ending; with `weighted`, a number in front of each is what is added up.
{
  weight = 1
  if (weighted) { weight = $1; sub(/^[0-9]+\t/, "") }
  n = split($0, part, "/")
  name = part[n]
  if (match(name, /.\.[A-Za-z0-9_+-]+$/)) ending = tolower(substr(name, RSTART + 2))
  else if (name ~ /^(Make|Docker|Container|Jenkins|Rake|Gem|Brew|Vagrant|Proc)file$/) ending = name
  else ending = "-"
  sum[ending] += weight
  all += weight
}
END {
  for (ending in sum) printf "%d\t%s\n", sum[ending], ending
  printf "%d\t*\n", all
}
