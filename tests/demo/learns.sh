# Every cell ends well below the unigram entropy, and says so: learns.sh PROGRAM DEVICE
. "$(dirname "$0")/common.sh"

make_text 1500 >"$here/text"
for cell in lstm gru vanilla mgu slstm; do
  if ! "$program" "${small[@]}" --data "$here/text" --cell $cell --iterations 150 --learning-rate 0.02 --sample 60 \
    >"$here/out" 2>"$here/err"; then
    fail "$cell: exit code, $(cat "$here/err")"
    continue
  fi
  [ -s "$here/err" ] && fail "$cell: wrote to stderr: $(cat "$here/err")"
  line=$(grep '^validation, ' "$here/out")
  echo "$cell: $line"
  # validation, on text it was not trained on: 1.234 bits per character, 30 % of the unigram entropy 4.100
  awk '{ exit !($9 > 0 && $9 < 0.6 * $NF) }' <<<"$line" || fail "$cell did not learn: $line"
done

# Short texts, other scripts and folders are texts, too.
mkdir "$here/folder" "$here/folder/build"
for i in 1 2 3 4 5 6 7 8 9 10; do echo 'Как дела? Ça va très bien, 谢谢。 😀'; done >"$here/folder/short"
printf '\xff\xfe\x00' | cat >"$here/folder/binary"
printf 'Z%.0s' {1..999} >"$here/folder/build/generated"
"$program" --device "$device" --data "$here/folder" --iterations 3 --sample 20 >"$here/out" 2>"$here/err" ||
  fail "folder: $(cat "$here/err")"
grep -q '^text: 330 characters of 1 files (1 are no text)' "$here/out" || fail "folder: $(head -1 "$here/out")"

# The same seed gives the same sample, another one another.
for seed in 1 1 2; do
  "$program" "${small[@]}" --data "$here/text" --iterations 5 --seed $seed --sample 200 | sed '1,/^sample/d' | cksum
done >"$here/samples"
[ "$(sort -u "$here/samples" | wc -l)" -eq 2 ] || fail "samples of seeds 1, 1 and 2: $(cat "$here/samples")"

finish
