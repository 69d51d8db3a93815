#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# interrupt.sh SENONE checks that long commands end on a signal with its status and leave no partial files, at any moment.
# recognize --resume must continue such a run. Progress must be shown on a terminal and nowhere else.
set -euo pipefail
senone=$1
data=/usr/share/pocketsphinx/test/data
en_us=/usr/share/pocketsphinx/model/en-us
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "interrupt.sh: $*" >&2; exit 1; }
for folder in "$data" "$en_us"; do
  [[ -d $folder ]] || { echo "skipped: $folder is missing; ./dev setup test installs it"; exit 77; }
done

# Background commands of a script ignore SIGINT by default.
run() { exec env --default-signal=INT,TERM,HUP "$senone" "$@"; }

# end SIGNAL STATUS PID sends the signal; the process must end with the status. False if it had already ended well.
end() {
  local signal=$1 expected=$2 pid=$3 status=0
  kill -s "$signal" "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || status=$?
  ((status == 0)) && return 1
  ((status == expected)) || { cat "$work/log" >&2; fail "SIG$signal: exit status $status instead of $expected"; }
}

# expect_files FILE... checks that $work/out has only these.
expect_files() {
  local found
  found=$(cd "$work/out" && find . -mindepth 1 | sort | paste -sd ' ')
  [[ $found == "$*" ]] || fail "left behind: \"$found\" instead of \"$*\""
}

# interrupt_while_writing SIGNAL STATUS FILES COMMAND... ends the command as soon as it writes into $work/out, or shortly before
# or after.
interrupt_while_writing() {
  local signal=$1 status=$2 files=$3
  shift 3
  for _ in {1..20}; do
    (run "$@") >"$work/log" 2>&1 &
    local pid=$!
    while kill -0 "$pid" 2>/dev/null && ! compgen -G "$work/out/*.partial-*" >/dev/null; do :; done
    if end "$signal" "$status" "$pid"; then
      # shellcheck disable=SC2086
      expect_files $files
      return
    fi
    rm -rf "$work/out/new"*
  done
  fail "never caught while writing: $*"
}

# interrupt_after SECONDS SIGNAL STATUS COMMAND...
interrupt_after() {
  local seconds=$1 signal=$2 status=$3
  shift 3
  (run "$@") >"$work/log" 2>&1 &
  local pid=$!
  sleep "$seconds"
  end "$signal" "$status" "$pid" || fail "$* ended within $seconds s"
  expect_files
}

# ---- import and graph

mkdir "$work/out"
interrupt_while_writing INT 130 "" import sphinx "$en_us/en-us" "$work/out/new"
interrupt_while_writing TERM 143 "" import sphinx "$en_us/en-us" "$work/out/new"
"$senone" import sphinx "$en_us/en-us" "$work/en" >/dev/null 2>&1
move=(graph --model "$work/en" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$data/goforward.gram")
interrupt_while_writing INT 130 "" "${move[@]}" --out "$work/out/new"
interrupt_while_writing HUP 129 "" "${move[@]}" --out "$work/out/new"
large=(graph --model "$work/en" --lexicon "$en_us/cmudict-en-us.dict" --lm "$en_us/en-us.lm.bin" --prune 1e-7)
interrupt_after 0.7 INT 130 "${large[@]}" --out "$work/out/new"
interrupt_after 2 TERM 143 "${large[@]}" --out "$work/out/new"
grep -q 'senone: interrupted' "$work/log" || fail "the interrupted command says nothing: $(cat "$work/log")"
(trap '' INT && exec "$senone" "${large[@]}" --out "$work/out/new" >"$work/log" 2>&1) &  # as under nohup
ignoring=$!
sleep 0.5 && kill -s INT "$ignoring" && sleep 0.3 && kill -0 "$ignoring" || fail "a signal that the parent ignores ended the command"
end TERM 143 "$ignoring" || fail "the large graph was built at once"
expect_files

# ---- train

cards=$data/cards
for _ in {1..40}; do cat "$cards/cards.transcription"; done | awk '{ sub(/\(/, "(" NR "-"); print }' >"$work/text"
for i in {1..200}; do echo "$cards/00$(((i - 1) % 5 + 1)).wav $i-00$(((i - 1) % 5 + 1))"; done >"$work/list"
train=(train em --model "$work/en" --lexicon "$en_us/cmudict-en-us.dict" --list "$work/list" --transcripts "$work/text")
interrupt_while_writing INT 130 "" "${train[@]}" --out "$work/out/new"
interrupt_after 1 TERM 143 "${train[@]}" --out "$work/out/new" --flat --gaussians 16

# ---- recognize

"$senone" graph --model "$work/en" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$data/cards/cards.gram" >/dev/null
# The ids are so long that a pipe takes less than half of the 40 results.
long=$(printf '%03000d' 0)
for i in {1..8}; do
  for card in 001 002 003 004 005; do echo "$data/cards/$card.wav $long-$i-$card"; done
done >"$work/list"
recognize=(recognize --model "$work/en" --device cpu --list "$work/list")

# interrupt_recognition COMMAND... sends SIGINT after three results. Nobody reads the later ones before, so that the command
# waits for a reader and cannot end, however late the signal comes.
mkfifo "$work/results"
interrupt_recognition() {
  (run "$@") >"$work/results" 2>"$work/log" &
  local pid=$! line
  exec 4<"$work/results"
  : >"$work/text"
  for _ in 1 2 3; do
    IFS= read -r line <&4 || fail "there are no results: $(cat "$work/log")"
    printf '%s\n' "$line" >>"$work/text"
  done
  end INT 130 "$pid" || fail "the command ended although nobody read its results"
  cat <&4 >>"$work/text"
  exec 4<&-
  [[ -z $(tail -c 1 "$work/text") ]] || fail "the last result is cut off"
}
interrupt_recognition "${recognize[@]}" --hyp "$work/out/new.hyp" --lattice "$work/out/new.ark"
expect_files

"$senone" "${recognize[@]}" --hyp "$work/whole.hyp" >/dev/null 2>&1
interrupt_recognition "${recognize[@]}" --hyp "$work/out/new.hyp" --resume
expect_files ./new.hyp
older=$(wc -l <"$work/out/new.hyp")
printf 'half a line (' >>"$work/out/new.hyp"
"$senone" "${recognize[@]}" --hyp "$work/out/new.hyp" --resume >"$work/text" 2>"$work/log"
diff "$work/whole.hyp" "$work/out/new.hyp" || fail "these are the words after an interruption"
(($(wc -l <"$work/text") == 40 - older)) || fail "--resume recognised what was there already"
"$senone" "${recognize[@]}" --hyp "$work/out/new.hyp" --resume >"$work/text" 2>"$work/log"
[[ ! -s $work/text ]] || fail "--resume recognised again what was complete"
"$senone" "${recognize[@]}" --resume >/dev/null 2>"$work/log" && fail "--resume without --hyp was accepted"
grep -q 'give it' "$work/log" || fail "--resume without --hyp: $(cat "$work/log")"
rm "$work/out/new.hyp"

# ---- pipes: one whose reader has ended, and one that is full

set +o pipefail
(run "${recognize[@]}" --hyp "$work/out/new.hyp" --lattice "$work/out/new.ark") 2>"$work/log" | head -n 1 >/dev/null
statuses=("${PIPESTATUS[@]}")
set -o pipefail
((statuses[0] == 141)) || fail "without a reader the status is ${statuses[0]} instead of 141: $(cat "$work/log")"
expect_files

(run "${large[@]}" --out "$work/out/new" 2> >(exec true)) >/dev/null &  # stderr has no reader
pid=$!
sleep 1
end INT 130 "$pid" || fail "a command ended although it got a signal"
expect_files

mkfifo "$work/full"
exec 3<>"$work/full"
dd if=/dev/zero of="$work/full" bs=4096 count=64 oflag=nonblock 2>/dev/null || true  # until it is full
(run "${recognize[@]}" --hyp "$work/out/new.hyp" --device nosuch >/dev/null 2>"$work/full") &
blocked=$!
(run "${large[@]}" --out "$work/out/new" >/dev/null 2>"$work/full") &
busy=$!
(exec sleep 300) >/dev/null 2>&1 && kill -s KILL "$blocked" "$busy" &
watchdog=$!
sleep 1
for pid in "$blocked" "$busy"; do end INT 130 "$pid" || fail "a command ended although stderr is full"; done
kill "$watchdog"
exec 3<&-
rm -f "$work/full"
expect_files

# ---- progress

on_terminal() { TERM=xterm script -qec "$(printf '%q ' "$senone" "$@")" /dev/null </dev/null | tr '\r' '\n'; }
if command -v script >/dev/null; then
  for _ in {1..20}; do cat "$data"/goforward.raw "$data"/something.raw; done >"$work/part.raw"
  for _ in 1 2; do cat "$work/part.raw"; done >"$work/long.raw"
  on_terminal recognize --model "$work/en" --device cpu "$work/long.raw" >"$work/shown"
  (($(grep -cE 'recognising +[0-9]+ % +[0-9:]+ of [0-9:]+ of audio, [0-9.]+ x real time' "$work/shown") >= 2)) ||
    fail "no progress of a long recording: $(cat "$work/shown")"
  on_terminal "${recognize[@]}" >"$work/shown"
  grep -qE 'recognising +[0-9]+ % +[0-9]+ of 40 recordings' "$work/shown" || fail "no progress of a list: $(cat "$work/shown")"
  on_terminal "${large[@]:0:5}" --lm "$data/turtle.lm.bin" --drop-unknown --out "$work/out/new" >"$work/shown"
  grep -qE 'graph ' "$work/shown" || fail "no progress of a graph: $(cat "$work/shown")"
  on_terminal "${recognize[@]}" --quiet >"$work/shown"
  grep -q 'recognising' "$work/shown" && fail "progress in spite of --quiet"
fi
"$senone" "${recognize[@]}" >/dev/null 2>"$work/log"
grep -q $'recognising\|\r\|\033' "$work/log" && fail "progress where no terminal is: $(cat "$work/log")"
echo "signals leave nothing behind; progress is shown on terminals"
