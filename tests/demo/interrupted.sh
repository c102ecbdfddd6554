# Control-C ends training and sampling early, and nothing is lost: interrupted.sh PROGRAM DEVICE
. "$(dirname "$0")/common.sh"

make_text 300 >"$here/text"

# start arguments...: runs the program in the background.
start() {
  : >"$here/out"
  # In the foreground: otherwise timeout passes a signal on twice.
  timeout --foreground 300 "$program" --device "$device" "$@" >"$here/out" 2>"$here/err" &
  process=$!
}
# interrupt_at PATTERN: once a line of the output matches.
interrupt_at() {
  for ((i = 0; i < 1200; ++i)); do
    grep -q "$1" "$here/out" && break
    sleep 0.1
  done
  [ $i -lt 1200 ] || fail "never printed: $1"
  kill -INT $process
}
sample_size() { sed '1,/^sample/d' "$here/out" | wc -c; }

# While it trains: the model is validated, saved and sampled from.
start "${small[@]:2}" --data "$here/text" --iterations 1000000000 --sample 50 --save "$here/saved"
interrupt_at '^[0-9]* of 1000000000 iterations'
wait $process || fail "training: exit code $?, $(cat "$here/err")"
grep -q '^trained: .*(interrupted)' "$here/out" || fail "training: $(cat "$here/out")"
grep -q '^validation, ' "$here/out" || fail "training: no validation"
[ -s "$here/saved" ] || fail "training: no checkpoint"
[ "$(sample_size)" -ge 51 ] || fail "training: a sample of $(sample_size) bytes"
[ ! -s "$here/err" ] || fail "training: $(cat "$here/err")"

# While it samples: what is printed ends with its line.
start --load "$here/saved" --iterations 0 --sample 1000000000
interrupt_at '^sample'
wait $process || fail "sampling: exit code $?, $(cat "$here/err")"
[ -z "$(tail -c 1 "$here/out")" ] || fail "sampling: the last line is not ended"

# Both, one after the other.
start "${small[@]:2}" --data "$here/text" --iterations 1000000000 --sample 1000000000 --save "$here/both"
interrupt_at '^[0-9]* of 1000000000 iterations'
interrupt_at '^sample'
wait $process || fail "both: exit code $?, $(cat "$here/err")"
[ -s "$here/both" ] || fail "both: no checkpoint"

finish
