# What is read, replaced and written, and what happens where that fails: files.sh PROGRAM DEVICE
. "$(dirname "$0")/common.sh"

make_text 300 >"$here/text"
run() { timeout 120 "$program" "${small[@]}" "$@" >"$here/out" 2>"$here/err"; }
brief=(--data "$here/text" --iterations 2)
one_line() { [ "$(wc -l <"$here/err")" -eq 1 ] && grep -qF -- "$1" "$here/err" || fail "expected '$1': $(cat "$here/err")"; }

# Through a symbolic link, or two, the file is replaced and the link stays.
mkdir "$here/elsewhere"
run "${brief[@]}" --sample 0 --save "$here/plain" || fail "a plain file: $(cat "$here/err")"
echo old >"$here/elsewhere/target"
ln -s elsewhere/target "$here/link"
ln -s "$here/link" "$here/second"
run "${brief[@]}" --sample 0 --save "$here/second" || fail "a link: $(cat "$here/err")"
[ -L "$here/link" ] && [ -L "$here/second" ] || fail "a link was replaced"
cmp "$here/plain" "$here/elsewhere/target" || fail "the target of a link is not the checkpoint"

# A write that fails in spite of all checks: the sample is printed, the old file stays, nothing else does.
echo precious >"$here/kept"
for name in kept new; do
  (ulimit -f 2 && run "${brief[@]}" --sample 40 --save "$here/$name") && fail "file size limit: exit code 0"
  one_line "$here/$name: cannot be written (File too large)"
  grep -q '^saved' "$here/out" && fail "file size limit: says that it is saved"
  [ "$(sed '1,/^sample/d' "$here/out" | tr -d '\n' | wc -c)" -ge 30 ] || fail "no sample: $(cat "$here/out")"
done
[ "$(cat "$here/kept")" = precious ] || fail "file size limit: the old file is gone"
[ ! -e "$here/new" ] || fail "file size limit: a new file"
[ -z "$(find "$here" -name '*partial*')" ] || fail "left behind: $(find "$here" -name '*partial*')"

# The folder of the checkpoint vanishes while the model trains.
mkdir "$here/vanishing"
: >"$here/out"
(run --data "$here/text" --time 3 --sample 40 --save "$here/vanishing/file"; echo $? >"$here/code") &
for ((i = 0; i < 600; ++i)); do grep -qs '^training' "$here/out" && break; sleep 0.1; done
rmdir "$here/vanishing"
wait
[ "$(cat "$here/code")" -eq 1 ] || fail "no folder any more: exit code $(cat "$here/code")"
one_line 'cannot be written (No such file or directory)'
grep -q '^sample' "$here/out" || fail "no folder any more: no sample"

# Entries that cannot be looked at or read are counted, the others read. Root can look into every folder.
mkdir "$here/folder" "$here/folder/locked"
cp "$here/text" "$here/folder"
ln -s loop "$here/folder/loop"
ln -s nowhere "$here/folder/dangling"
ln -s /proc/self/mem "$here/folder/unreadable"
ln -s ../folder "$here/folder/around"
mkfifo "$here/folder/pipe"
chmod 0 "$here/folder/locked"
count=$([ -r "$here/folder/locked" ] && echo 3 || echo 4)
run --data "$here/folder" --iterations 2 --sample 0 ||
  fail "a folder with a loop: $(cat "$here/err")"
grep -qE "^text: [0-9]+ characters of 1 files \($count cannot be read\)," "$here/out" ||
  fail "a folder with a loop: $(head -1 "$here/out")"
[ ! -s "$here/err" ] || fail "a folder with a loop: $(cat "$here/err")"
chmod 700 "$here/folder/locked"

# A text of one character has no entropy to compare with.
printf 'a%.0s' {1..2000} >"$here/one"
run --data "$here/one" --iterations 5 --sample 10 || fail "one character: $(cat "$here/err")"
grep -qE '^validation, .*: [0-9.]+ bits per character$' "$here/out" || fail "one character: $(grep '^valid' "$here/out")"
[ "$(tail -1 "$here/out")" = aaaaaaaaaa ] || fail "one character: sample $(tail -1 "$here/out")"

# What is printed is a result, too.
full() {
  timeout 120 "$program" "$@" >/dev/full 2>"$here/err" && fail "$*, a full device: exit code 0"
  one_line 'the standard output cannot be written'
}
if [ -c /dev/full ]; then
  full --help
  full "${small[@]}" "${brief[@]}" --sample 20 --save "$here/in_spite"
  cmp "$here/plain" "$here/in_spite" || fail "a full device: no checkpoint"
  full --device "$device" --load "$here/plain" --iterations 0 --sample 1000000000
fi
timeout 60 "$program" --help >&- 2>"$here/err" && fail "no standard output: exit code 0"
one_line 'the standard output is closed'

finish
