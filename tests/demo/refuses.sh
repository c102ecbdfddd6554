# Whatever is wrong is said in one line, with an exit code, and harms no file: refuses.sh PROGRAM DEVICE
. "$(dirname "$0")/common.sh"

make_text 300 >"$here/text"
: >"$here/empty"
printf 'text\x00text' >"$here/binary"
printf 'caf\xe9 au lait, caf\xe9 au lait' >"$here/latin1"
printf 'overlong \xc0\xaf' >"$here/overlong"
printf 'surrogate \xed\xa0\x80' >"$here/surrogate"
printf 'cut off \xe2\x82' >"$here/cut_off"
echo 'too short' >"$here/short"
mkdir "$here/folder" "$here/binaries"
cp "$here/binary" "$here/binaries"
make_text 299 >"$here/other_text"
"$program" "${small[@]}" --data "$here/text" --iterations 2 --sample 0 --save "$here/good" >/dev/null || fail "setup"
size=$(wc -c <"$here/good")
head -c $((size - 1)) "$here/good" >"$here/cut_short"
head -c 40 "$here/good" >"$here/stub"
{ head -c $((size / 2)) "$here/good" && printf '\x5a\x5a\x5a' && tail -c +$((size / 2 + 4)) "$here/good"; } >"$here/damaged"
{ cat "$here/good" && echo; } >"$here/longer"

# Names that no checkpoint may replace. A device would be one more, but a test that fails would replace it.
mkfifo "$here/pipe"
ln -s pipe "$here/link_to_pipe"
ln -s folder "$here/link_to_folder"
ln -s nowhere "$here/dangling"
ln -s loop "$here/loop"
awk 'BEGIN { for (k = 0; k < 3; ++k) for (c = 33; c < 127; ++c) printf "%c", c }' >"$here/rare"

listing() {
  local others=(! -name . ! -name out ! -name err)
  (cd "$here" && find . "${others[@]}" -printf '%y %p %l\n' && find . -type f "${others[@]}" -exec cksum {} +) | sort
}
before=$(listing)

# refuse 'what stderr must contain' arguments...
refuse() {
  local expected=$1
  shift
  if timeout 60 "$program" "$@" >"$here/out" 2>"$here/err"; then fail "$*: exit code 0"; fi
  [ "$(wc -l <"$here/err")" -eq 1 ] || fail "$*: not one line: $(cat "$here/err")"
  grep -qF -- "$expected" "$here/err" || fail "$*: says '$(cat "$here/err")', expected '$expected'"
  [ "$(listing)" = "$before" ] || fail "$*: changed a file"
}
data() { refuse "$1" --device "$device" --iterations 2 --save "$here/good" --data "$here/$2"; }
load() { refuse "$1" --device "$device" --iterations 2 --save "$here/good" --data "$here/text" --load "$here/$2"; }

data 'no such file' missing
data 'is empty' empty
data 'is not UTF-8 text (byte 4)' binary
data 'is not UTF-8 text (byte 3)' latin1
data 'is not UTF-8 text (byte 9)' overlong
data 'is not UTF-8 text (byte 10)' surrogate
data 'is not UTF-8 text (byte 8)' cut_off
data 'too few' short
data 'holds no UTF-8 text file' folder
data 'holds no UTF-8 text file' binaries
data 'no character occurs 4 times' rare
data 'cannot be looked at (Too many' loop
refuse 'neither a file nor a folder' --data /dev/null
refuse 'too few for --batch 4096' --device "$device" --data "$here/text" --batch 4096

load 'no such file' missing
load 'is no file' folder
load 'is not a checkpoint' text
load 'is not a checkpoint' empty
load 'is cut short' stub
load 'is cut short' cut_short
load 'is damaged' damaged
load 'is damaged' longer
refuse 'another text' --device "$device" --load "$here/good" --data "$here/other_text" --save "$here/good"

refuse 'its folder does not exist' --data "$here/text" --iterations 2 --save "$here/nowhere/file"
refuse 'is a folder' --data "$here/text" --iterations 2 --save "$here/folder"
refuse 'is a folder' --data "$here/text" --iterations 2 --save "$here/link_to_folder"
refuse 'not a regular file' --data "$here/text" --iterations 2 --save "$here/pipe"
refuse 'not a regular file' --data "$here/text" --iterations 2 --save "$here/link_to_pipe"
refuse 'leads nowhere' --data "$here/text" --iterations 2 --save "$here/dangling"
refuse 'leads nowhere' --data "$here/text" --iterations 2 --save "$here/loop"
refuse "--save is ''" --data "$here/text" --iterations 2 --save ''
refuse 'cannot be written (File name too long)' --data "$here/text" --save "$here/$(printf 'n%.0s' {1..250})"
refuse 'diverged' --device "$device" --data "$here/text" --iterations 50 --cell vanilla --learning-rate 1e9 --clip 1e9 \
  --save "$here/good"

refuse 'is no option' --unknown 1
refuse 'is no option' --data "$here/text" stray
refuse "'-x' is no option" -x
refuse "'-ab' is no option" -ab
refuse "'-ab' is no option" --hidden 8 -ab
refuse "'stray' is no option" stray -ab
refuse "'--unknown=1' is no option" --unknown=1
refuse "'--s' is ambiguous: --steps, --seed, --save, --sample" --s 7
refuse "'--l=7' is ambiguous: --layers, --load, --learning-rate" --l=7
refuse '--help takes no value' --help=7
refuse "--hidden is 'some'" --hid some
refuse 'needs a value' --hidden
refuse 'given twice' --hidden 8 --hidden 8
refuse "--hidden is 'many'" --hidden many
refuse "--hidden is '12x'" --hidden 12x
refuse "--layers is '0'" --layers 0
refuse "--batch is '-1'" --batch -1
refuse "--steps is '99999999999999999999'" --steps 99999999999999999999
refuse "--learning-rate is '0'" --learning-rate 0
refuse "--learning-rate is 'nan'" --learning-rate nan
refuse "--clip is 'inf'" --clip inf
refuse "--clip is '1e-50'" --clip 1e-50
refuse "--clip is '1e-400'" --clip 1e-400
refuse "--learning-rate is '-1'" --learning-rate -1
refuse "--learning-rate is '1e-40'" --learning-rate 1e-40
refuse "--temperature is ''" --temperature ''
refuse "--cell is 'rnn', needs one of lstm" --cell rnn
refuse "--device is 'tpu', needs one of cpu" --device tpu
refuse 'say the same' --iterations 1 --epochs 1
refuse '--hidden has no effect' --load "$here/good" --hidden 8
refuse '--cell has no effect' --load "$here/good" --cell lstm
refuse '--temperature has no effect' --sample 0 --temperature 1
refuse '--seed has no effect' --load "$here/good" --sample 0 --seed 3
refuse '--data has no effect' --load "$here/good" --iterations 0 --data "$here/text"
refuse '--save has no effect' --load "$here/good" --iterations 0 --save "$here/good"
refuse 'needs --load' --iterations 0
refuse 'nothing to do' --load "$here/good" --iterations 0 --sample 0

# Asked for a GPU, it uses one or says that there is none.
if ! "$program" --device gpu --data "$here/text" --iterations 1 --sample 0 >"$here/out" 2>"$here/err"; then
  [ "$(wc -l <"$here/err")" -eq 1 ] && grep -q '^char_lm: --device gpu' "$here/err" || fail "no GPU: $(cat "$here/err")"
fi

finish
