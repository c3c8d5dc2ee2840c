# Finds blocks of `least` lines or more that stand in two places, alike but for their names: words
# other than the usual keywords count as one word, numbers as one number. Blank lines, comments,
# texts, closing brackets and imports are passed over.
# One row a pair: significant lines, first place, second place.
function flush() {
  if (0 < run) printf "%d\t%s\t%s\t%d\t%d\n", run + least - 1, onefrom, twofrom, oneto, twoto
  run = 0
}
BEGIN {
  n = split("if else elif for while do switch match case return break continue def fn func function class struct enum impl trait let const var new try except catch finally with raise throw yield await async lambda in not and or is None True False null true false self this", word, " ")
  for (i = 1; i <= n; i++) keep[word[i]] = 1
}
FNR == 1 { flush(); file = FILENAME; held = 0 }
{
  line = $0
  sub(/^[ \t]+/, "", line)
  if (length(line) < 3 || line ~ /^(#|\/\/|\/\*|\*|--|["\047]|import |from |use |using |include|package )/ || line ~ /^[]{})(;,]+$/) next
  if (300 < length(line)) line = substr(line, 1, 300)
  rest = line
  line = ""
  while (match(rest, /[A-Za-z_][A-Za-z0-9_]*|[0-9]+/)) {
    name = substr(rest, RSTART, RLENGTH)
    line = line substr(rest, 1, RSTART - 1) ((name in keep) ? name : (name ~ /^[0-9]/ ? "0" : "w"))
    rest = substr(rest, RSTART + RLENGTH)
  }
  line = line rest
  gsub(/[ \t]+/, " ", line)
  if (line ~ /^[w0 ,.;:\047"`*-]+$/) next
  held++
  slot = held % least
  text[slot] = line
  at[slot] = FNR
  if (held < least) next
  key = ""
  kinds = 0
  split("", different)
  for (i = held - least + 1; i <= held; i++) {
    line = text[i % least]
    key = key line "\n"
    if (!(line in different)) { different[line] = 1; kinds++ }
  }
  if (kinds * 2 < least) { flush(); next }
  from = at[(held + 1) % least]
  if (!(key in seenfile)) { seenfile[key] = file; seenat[key] = from; seento[key] = FNR; seenheld[key] = held; flush(); next }
  other = seenfile[key]
  if (other == file && from <= seento[key]) { flush(); next }
  if (0 < run && other == lastfile && seenheld[key] == lastheld + 1 && (other != file || seento[key] < twostart)) { run++ }
  else {
    flush()
    run = 1
    onefrom = other ":" seenat[key]
    twofrom = file ":" from
    twostart = from
  }
  oneto = seento[key]
  twoto = FNR
  lastfile = other
  lastheld = seenheld[key]
}
END { flush() }
