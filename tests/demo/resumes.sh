# A run cut in two is the run in one piece, to the last bit: resumes.sh PROGRAM DEVICE
. "$(dirname "$0")/common.sh"

make_text 300 >"$here/text"
run() { "$program" --device "$device" --data "$here/text" --sample 0 "$@" >"$here/out" 2>"$here/err" || fail "$*: $(cat "$here/err")"; }
last_loss() { sed -n 's/.*last loss \([0-9.]*\).*/\1/p' "$here/out"; }

for cell in lstm slstm gru; do
  sizes=("${small[@]:2}" --cell $cell)
  # 90 iterations are several passes over the text, so that the cut lies behind a return to its start.
  run "${sizes[@]}" --iterations 90 --save "$here/whole"
  whole=$(last_loss)
  run "${sizes[@]}" --iterations 70 --save "$here/part"
  run --iterations 20 --load "$here/part" --save "$here/part"
  [ -n "$whole" ] && [ "$whole" = "$(last_loss)" ] || fail "$cell: last losses $whole and $(last_loss)"
  cmp "$here/whole" "$here/part" || fail "$cell: the checkpoints differ"
done
[ "$(ls "$here")" = "$(printf 'err\nout\npart\ntext\nwhole')" ] || fail "files left behind: $(ls "$here")"

# A checkpoint alone is enough to sample from.
"$program" --device "$device" --load "$here/whole" --iterations 0 --sample 50 >"$here/out" || fail "sampling only"
grep -q '^sample' "$here/out" || fail "no sample: $(cat "$here/out")"

finish
