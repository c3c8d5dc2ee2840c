# Reads one path a line, and tells for each folder how many source files have no test of their name.
function stem(name) {
  sub(/\.[A-Za-z0-9]+$/, "", name)
  if (name ~ /[a-z0-9](Tests?|Spec)$/) sub(/(Tests?|Spec)$/, "", name)
  name = tolower(name)
  sub(/^(test|tests|spec)[_-]/, "", name)
  sub(/[._-](tests?|spec|unittest)$/, "", name)
  gsub(/[_-]/, "", name)
  return name
}
{
  n = split($0, part, "/")
  name = part[n]
  folder = substr($0, 1, length($0) - length(name))
  key = stem(name)
  if ($0 ~ /(^|\/)([a-z]+_tests?|tests?|__tests__|specs?|testing|e2e)\// || name ~ /^test_|^tests?\.|^conftest\.|[_.-](tests?|spec)\.[a-z]+$|[a-z0-9](Tests?|Spec)\.[a-z]+$/) {
    tests++
    tested[key] = 1
    if (name ~ /^tests?\./) { covered[folder] = 1; if (1 < n) tested[stem(part[n - 1])] = 1 }
    next
  }
  if ($0 ~ /(^|\/)(docs?|examples?|fixtures?|testdata|benches|benchmarks?|vendor|third_party|migrations|node_modules|dist|scripts?)\//) next
  if (name ~ /^(__init__|__main__|setup|conf|mod|lib|main|build|index|manage|wsgi|asgi|config|settings)\.[a-z]+$|\.d\.ts$|\.config\.[a-z]+$/) next
  sources++
  home[sources] = folder
  keys[sources] = key
}
END {
  for (i = 1; i <= sources; i++) {
    total[home[i]]++
    if (!(keys[i] in tested) && !(home[i] in covered)) { missing[home[i]]++; without++ }
  }
  printf "%d\t%d\t%d\t*\n", without, sources, tests
  for (folder in missing) printf "%d\t%d\t0\t%s\n", missing[folder], total[folder], folder == "" ? "." : folder
}
