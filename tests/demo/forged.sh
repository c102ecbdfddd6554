# A checkpoint whose checksum is right and whose fields are not is refused, too: forged.sh PROGRAM DEVICE PYTHON
. "$(dirname "$0")/common.sh"

make_text 300 >"$here/text"
"$program" --device "$device" --data "$here/text" --layers 2 --hidden 3 --embedding 2 --batch 4 --steps 16 \
  --iterations 3 --sample 0 --save "$here/good" >/dev/null || fail "setup"

# forgery 'field that is named, or taken' change...; in the order in which they are looked at below
forgery() { (IFS=$'\t' && echo "$*") >>"$here/cases"; }

# Nothing changed, it is the same file; and what is changed within the limits is taken.
forgery taken
forgery taken seed=5 clip=2.5 learning_rate=1e-37 position=16

for value in 'b"rnn"' 'b""' 'b"lstm\nlstm"' 'b"lstm\0"'; do forgery cell "cell=$value"; done
for field in layers hidden embedding batch steps; do
  for value in 0 -1 8193 2**63-1 -2**63; do forgery $field "$field=$value"; done
done
for field in learning_rate clip; do
  for value in 0.0 -1.0 1e-50 2e9 'float("nan")' 'float("inf")' '-float("nan")'; do
    forgery "${field/_/ }" "$field=$value"
  done
done
forgery seed seed=2**63
for character in 0 0xd800 0xdfff 0x110000 2**32-1 old[0]; do forgery characters "characters=old[:-1]+[$character]"; done
forgery characters 'characters=[]'
forgery characters 'characters=list(range(0x4e00,0x4e00+1024))'
for value in -1 2**62 2**63-1; do forgery iterations "iterations=$value"; done
for value in -16 1 64 2**62 2**63-1; do forgery position "position=$value"; done
for field in parameters mean variance; do
  for value in 'float("nan")' 'float("inf")' '-float("inf")'; do forgery $field "$field=old[:-1]+[$value]"; done
done
forgery variance 'variance=old[:-1]+[-1.0]'
forgery states 'states=old[:-1]+[old[-1][:-1]+[float("nan")]]'

# Sizes that the model does not have, and models far larger than the file.
forgery 'number of parameters' 'parameters=old[:-1]'
forgery 'number of parameters' 'parameters=[]'
forgery 'number of parameters' hidden=8192 layers=64 embedding=8192
forgery 'number of parameters' 'cell=b"vanilla"'
forgery 'number of parameters' 'characters=old[:16]'
forgery mean 'mean=old+old'
forgery variance 'variance=old[1:]'
forgery 'number of states' 'states=old[:1]'
forgery 'number of states' 'states=[[]]*1000'
forgery states 'states=[old[0],old[1][:-1]]'
forgery states batch=8

"$3" "$(dirname "$0")/forge.py" "$here/good" "$here/forged" "$here/cases" || fail "setup: nothing is forged"
cmp "$here/good" "$here/forged.1" || fail "setup: the forgery of nothing"

# use NUMBER arguments...
use() {
  timeout 60 "$program" --device "$device" --load "$here/forged.$1" "${@:2}" --sample 10 >"$here/out" 2>"$here/err"
}
refused() {
  [ "$(wc -l <"$here/err")" -eq 1 ] || fail "$2: not one line: $(cat "$here/err")"
  grep -qF -- "its $1 is not" "$here/err" || fail "$2: says '$(cat "$here/err")', expected '$1'"
}
number=0
while IFS=$'\t' read -r expected changes; do
  number=$((number + 1))
  if [ "$expected" = taken ]; then
    use $number --iterations 0 || fail "$changes: $(cat "$here/err")"
    use $number --data "$here/text" --iterations 1 || fail "$changes, trained: $(cat "$here/err")"
  else
    use $number --iterations 0 && fail "$changes: exit code 0"
    refused "$expected" "$changes"
  fi
done <"$here/cases"
[ $number -gt 80 ] || fail "only $number forgeries"

# Plausible for itself, but beyond the end of the text it was trained on.
printf 'position\titerations=10**6\tposition=16*10**5\n' >"$here/cases"
"$3" "$(dirname "$0")/forge.py" "$here/good" "$here/beyond" "$here/cases" || fail "setup: nothing is forged"
mv "$here/beyond.1" "$here/forged.1"
use 1 --data "$here/text" --iterations 1 && fail "a position beyond the text: exit code 0"
refused position "a position beyond the text"

finish
