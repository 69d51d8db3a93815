#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# align.sh SENONE aligns recordings of Debian's PocketSphinx with its en-us model: right texts, texts with errors, and inputs that
# are refused one by one.
set -euo pipefail
senone=$1
en_us=/usr/share/pocketsphinx/model/en-us data=/usr/share/pocketsphinx/test/data
[[ -d $en_us && -d $data/librivox ]] || { echo "skipped: $en_us or $data is missing; ./dev setup test installs them"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed() { echo "align.sh: $*" >&2; exit 1; }

"$senone" import sphinx "$en_us/en-us" "$work/model" >/dev/null 2>&1
mkdir "$work/speech"
cp "$data"/cards/*.wav "$data"/librivox/*.wav "$work/speech"
cat "$data/cards/cards.transcription" "$data/librivox/transcription" >"$work/text"
align() { "$senone" align --quiet --model "$work/model" --lexicon "$en_us/cmudict-en-us.dict" "$@"; }

# Every word has its place, in order, and the TextGrids cover the recordings.
mkdir "$work/grids"
align --transcripts "$work/text" --ctm "$work/words" --phone-ctm "$work/phones" --json "$work/json" --textgrid "$work/grids" \
  "$work"/speech/*.wav 2>"$work/log" || failed "$(cat "$work/log")"
grep '10 of 10 recordings' "$work/log" >/dev/null
[[ $(wc -l <"$work/words") == 92 && $(ls "$work/grids" | wc -l) == 10 ]] || failed "$(wc -l <"$work/words") words"
awk '$1 == id && $3 < end - 0.0005 { exit 1 } { id = $1; end = $3 + $4 }' "$work/words" || failed "words overlap"
awk '$1 == id && $3 < end - 0.0005 { exit 1 } { id = $1; end = $3 + $4 }' "$work/phones" || failed "phones overlap"
for grid in "$work"/grids/*; do
  awk '/class = / { end = 0 } / xmin = / && seen { if ($3 != end) exit 1 } /intervals \[/ { seen = 1 } /item \[/ { seen = 0 }
       / xmax = / && seen { end = $3 }' "$grid" || failed "$grid has gaps"
done

# Words a, b and c of a sentence, in capitals and with signs, have the times of the same words.
printf '%s\n' '001 "TEN" of Clubs!' >"$work/capitals"
align --transcripts "$work/capitals" --ctm "$work/one" "$work/speech/001.wav" 2>/dev/null
diff <(grep '^001' "$work/words" | cut -d ' ' -f 1-4) <(cut -d ' ' -f 1-4 "$work/one")
grep -F '"TEN"' "$work/one" >/dev/null

# One text lies beside its recording. A text has an error: a lenient search finds it, and the other words keep their times.
printf 'eight of spades\nfour of clubs, seven of queens and hearts\n' >"$work/speech/005.lab"
align --lenient --json - "$work/speech/005.wav" 2>/dev/null >"$work/lenient"
grep '"not_said":\[8,9\]' "$work/lenient" >/dev/null || failed "$(cat "$work/lenient")"
printf '005 eight of spades clubs seven of hearts\n' >"$work/dropped"
align --lenient --transcripts "$work/dropped" --ctm "$work/lenient" "$work/speech/005.wav" 2>/dev/null
[[ $(cut -d ' ' -f 5 "$work/lenient" | tr '\n' ' ') == "eight of spades [foreign] clubs seven of hearts " ]] || failed "$(cat "$work/lenient")"
for word in eight spades clubs seven hearts; do
  awk -v word=$word '$1 == "005" && $5 == word { if (++n == 1) at = $3; else if (at - $3 > 0.05 || $3 - at > 0.05) exit 1 }' \
    <(cat "$work/words" "$work/lenient") || failed "$word is elsewhere"
done

# A phone that is not said is rated lower than the others.
grep -E '^(ten|of|clubs) ' "$en_us/cmudict-en-us.dict" | sed 's/^ten T/ten V/' >"$work/wrong.dict"
"$senone" align --quiet --gop --model "$work/model" --lexicon "$work/wrong.dict" --transcripts "$work/text" --json - \
  "$work/speech/001.wav" 2>/dev/null >"$work/rated"
grep -o '"phone":"[A-Z]*"[^}]*' "$work/rated" | sed -E 's/"phone":"([A-Z]*)".*"goodness":([-0-9.e]*),"likeliest":"([A-Z]*)"/\2 \1 \3/' |
  sort -g >"$work/goodness"
[[ $(head -n 1 "$work/goodness") == -*' V '[^V]* && $(wc -l <"$work/goodness") == 10 ]] || failed "$(cat "$work/goodness")"

# Words have a confidence, which is low where another word is said.
confidence_of() { grep -o "\"word\":\"$1\"[^[]*" "$2" | grep -o '"confidence":[^,]*' | cut -d : -f 2; }
printf '002 four queen of diamonds\n' >"$work/other"
align --transcripts "$work/other" --json "$work/doubtful" "$work/speech/002.wav" 2>/dev/null
awk -v right="$(confidence_of queen "$work/doubtful")" -v wrong="$(confidence_of diamonds "$work/doubtful")" \
  'BEGIN { exit !(right > 0.8 && wrong < 0.5) }' || failed "$(cat "$work/doubtful")"

# A text that is not said is refused with its first place, and a word that is not said is named.
printf '001 please turn off the light\n002 four queen of diamonds\n' >"$work/other"
if align --transcripts "$work/other" --ctm "$work/one" "$work"/speech/00[12].wav 2>"$work/log"; then failed "another text passes"; fi
grep "^senone: 001: its text does not seem to be said: .* words do not fit the audio, the first .* at" "$work/log" >/dev/null ||
  failed "$(cat "$work/log")"
grep "^senone: warning: 002: the word 'diamonds' at .* does not fit the audio" "$work/log" >/dev/null || failed "$(cat "$work/log")"

# What cannot be aligned costs itself.
printf '001 ten of glubs\n002 four queen of clubs\n004\n' >"$work/bad"
if align --transcripts "$work/bad" --ctm "$work/some" "$work"/speech/00[1-4].wav 2>"$work/log"; then failed "bad texts pass"; fi
grep "^senone: 001: the word 'glubs' is not in .*--g2p" "$work/log" >/dev/null
grep '^senone: 003: .*has no line for it' "$work/log" >/dev/null
grep '^senone: 004: .*has no words' "$work/log" >/dev/null
grep '3 of 4 recordings were not aligned' "$work/log" >/dev/null
if align --transcripts "$work/text" --ctm "$work/some2" "$work"/speech/001.wav "$work"/speech/001.wav 2>"$work/log"; then failed "an id is there twice"; fi
grep '"001" is the id of two recordings' "$work/log" >/dev/null
[[ $(wc -l <"$work/some") == 4 ]]
printf '%s ../x\n' "$work/speech/001.wav" >"$work/list"
printf '../x ten of clubs\n' >"$work/bad"
if align --transcripts "$work/bad" --textgrid "$work/grids" --list "$work/list" 2>"$work/log"; then failed "a path passes as an id"; fi
grep 'id "../x"' "$work/log" >/dev/null || failed "$(cat "$work/log")"
[[ ! -e $work/x.TextGrid ]]
if align --transcripts "$work/bad" "$work/speech/001.wav" 2>"$work/log"; then failed "no output is named"; fi
grep 'nothing is to be written' "$work/log" >/dev/null
# A folder: texts of all kinds lie beside the recordings, some in folders below it. A recording without a text costs itself.
mkdir -p "$work/folder/a/b" "$work/out"
cp "$work/speech/001.wav" "$work/folder/one.wav"
cp "$work/speech/002.wav" "$work/folder/a/two.wav"
cp "$work/speech/003.wav" "$work/folder/a/b/three.wav"
cp "$work/speech/004.wav" "$work/folder/a/none.wav"
text_of() { grep "($1)" "$data/cards/cards.transcription" | sed -E 's/<\/?s>//g; s/ *\([0-9]+\)//'; }
text_of 001 >"$work/folder/one.txt"
text_of 002 >"$work/folder/a/two.lab"
printf '"ooTextFile" "TextGrid" 0 9 <exists> 1 "IntervalTier" "said" 0 9 1 0 9 "%s"\n' "$(text_of 003)" >"$work/folder/a/b/three.TextGrid"
folder() { align --folder "$work/folder" "$@" 2>"$work/log"; }
if folder --textgrid "$work/out" --srt "$work/out"; then failed "a recording without a text passes"; fi
grep '^senone: .*a/none.wav: no text lies beside it' "$work/log" >/dev/null || failed "$(cat "$work/log")"
grep 'align: 3 of 4 recordings' "$work/log" >/dev/null || failed "$(cat "$work/log")"
for name in one a/two a/b/three; do [[ -s $work/out/$name.TextGrid && -s $work/out/$name.srt ]] || failed "$name"; done
[[ $(grep -c ' --> ' "$work/out/one.srt") == 1 && $(tail -n 2 "$work/out/one.srt" | head -n 1) == $(text_of 001 | xargs) ]] || failed "$(cat "$work/out/one.srt")"

# The same again makes what is missing, and only that; the bytes are those of another run.
cp -r "$work/out" "$work/before"
rm "$work/out/a/two.TextGrid"
text_of 004 >"$work/folder/a/none.txt"
folder --textgrid "$work/out" --srt "$work/out" || failed "$(cat "$work/log")"
grep 'align: 4 of 4 recordings in .*, 2 of them earlier' "$work/log" >/dev/null || failed "$(cat "$work/log")"
diff -r "$work/before" "$work/out" | grep -v '^Only in .*: none' && failed "other bytes"
[[ -s $work/out/a/none.TextGrid ]]

# Beside the recordings a TextGrid that is the text is not replaced.
if folder --textgrid "$work/folder"; then failed "a text is replaced"; fi
[[ $(ls "$work"/folder/*.TextGrid "$work"/folder/a/*.TextGrid | wc -l) == 3 ]] || failed "$(ls -R "$work/folder")"
grep -F "Grid: is the text" "$work/log" >/dev/null || failed "$(cat "$work/log")"

# No output replaces what the run reads, or another output.
refused() { # MESSAGE OPTION...
  local message=$1 status=0
  shift
  folder "$@" || status=$?
  ((status == 2)) || failed "$*: status $status"
  grep -F "$message" "$work/log" >/dev/null || failed "$(cat "$work/log")"
}
find "$work/folder" -type f -exec sha256sum {} + | sort >"$work/sums"
refused 'would replace the recording or the text of "one"' --ctm "$work/folder/one.wav"
refused 'would replace the recording or the text of "a/two"' --json "$work/folder/a/two.lab"
refused 'would write the same file' --ctm "$work/same" --json "$work/same"
refused 'is the file of "one", too' --textgrid "$work/out" --ctm "$work/out/one.TextGrid"
diff "$work/sums" <(find "$work/folder" -type f -exec sha256sum {} + | sort) || failed "an input changed"

# A recording that cannot be used, or written, costs itself in each run; signs that stand alone are no words.
mkdir -p "$work/odd/b" "$work/odd.out"
for name in a c b/x; do cp "$work/speech/001.wav" "$work/odd/$name.wav"; done
cp "$work/speech/001.wav" "$work/odd/d.wav"
ln -s d.lab "$work/odd/d.lab"
printf '%s - --\n' "$(text_of 001)" | tee "$work/odd/a.lab" "$work/odd/b/x.lab" >"$work/odd/c.lab"
cp "$work/odd/c.wav" "$work/odd/c.au"
touch "$work/odd.out/b"
for run in 1 2; do
  if align --folder "$work/odd" --textgrid "$work/odd.out" 2>"$work/log"; then failed "run $run passes"; fi
  for message in '"c" is the id of two recordings' 'd.wav: no text lies beside it' 'odd.out/b: the folder cannot be made'; do
    grep -F "$message" "$work/log" >/dev/null || failed "run $run: $(cat "$work/log")"
  done
done
cmp "$work/odd.out/a.TextGrid" "$work/out/one.TextGrid" || failed "signs are words"

# A chain of words that may be skipped takes no stack. More words than frames are refused at once.
mkdir "$work/long"
for _ in 1 2 3; do tail -qc +45 "$work"/speech/*.wav; done >"$work/long/001.raw"
printf 'he %.0s' {1..3000} >"$work/long/001.lab"
status=0
(ulimit -s 256 && align --lenient --raw-rate 16000 --json "$work/long.json" "$work/long/001.raw" 2>"$work/log") || status=$?
((status == 1)) && grep 'no path says its words' "$work/log" >/dev/null || failed "status $status: $(cat "$work/log")"
cp "$work/speech/001.wav" "$work/long"
for lenient in "" --lenient; do
  if align $lenient --folder "$work/long" --json "$work/long2.json" 2>"$work/log"; then failed "3000 words in a second"; fi
  grep '001: its text has 3000 words, which cannot be said in' "$work/log" >/dev/null || failed "$(cat "$work/log")"
done

# A TextGrid in UTF-16 is read; one with points alone is refused, and a binary one.
mkdir "$work/grid"
cp "$work/speech/001.wav" "$work/grid"
grid='File type = "ooTextFile" Object class = "TextGrid" 0 2 <exists> 1'
printf '%s "IntervalTier" "said" 0 2 1 0 2 "%s"\n' "$grid" "$(text_of 001)" | iconv -t UTF-16BE | { printf '\xfe\xff'; cat; } >"$work/grid/001.TextGrid"
align --folder "$work/grid" --ctm "$work/grid.ctm" 2>"$work/log" || failed "$(cat "$work/log")"
cmp <(grep '^001' "$work/words") "$work/grid.ctm" || failed "other times"
printf '%s "TextTier" "marks" 0 2 1 0.5 "ten"\n' "$grid" >"$work/grid/001.TextGrid"
if align --folder "$work/grid" --ctm "$work/grid.ctm" 2>"$work/log"; then failed "points pass"; fi
grep "has no tier of intervals but 1 of points, the first 'marks'" "$work/log" >/dev/null || failed "$(cat "$work/log")"

# A table has recordings and texts. Rows that cannot be used cost themselves, and its ids name no other folders.
mkdir -p "$work/table/clips" "$work/table.out"
cp "$work"/speech/00[12].wav "$work/table/clips"
printf 'id,Path,sentence\n,clips/001.wav,"%s"\ntwo,clips/002.wav,%s\n../x,clips/001.wav,a\nlast,clips/001.wav\n' "$(text_of 001)" "$(text_of 002)" \
  >"$work/table/all.csv"
if align --csv "$work/table/all.csv" --ctm "$work/table.ctm" --textgrid "$work/table.out" 2>"$work/log"; then failed "bad rows pass"; fi
diff <(grep -E '^00[12]' "$work/words" | cut -d ' ' -f 2-) <(cut -d ' ' -f 2- "$work/table.ctm") || failed "other times"
[[ $(ls "$work/table.out" | tr '\n' ' ') == "001.TextGrid two.TextGrid " && ! -e $work/x.TextGrid ]] || failed "$(ls "$work/table.out")"
grep 'all.csv:5: has 2 fields, and the first line 3' "$work/log" >/dev/null || failed "$(cat "$work/log")"
grep 'the id "../x" has a slash' "$work/log" >/dev/null || failed "$(cat "$work/log")"
printf 'clips/001.wav,ten of clubs\n' >"$work/table/bare.csv"
printf 'file;words\nclips/001.wav;ten of clubs\n' >"$work/table/other.csv"
for name in bare other; do
  if align --csv "$work/table/$name.csv" --ctm "$work/table.ctm" 2>"$work/log"; then failed "$name.csv passes"; fi
  grep -E "$name.csv: (has no rows; write a header|its first line names no column \"text\"; write a header)" "$work/log" >/dev/null || failed "$(cat "$work/log")"
done
table() { align --csv "$work/table/all.csv" "$@" 2>"$work/log" || grep -F -e "$message" "$work/log" >/dev/null || failed "$(cat "$work/log")"; }
message='--csv has the texts' table --transcripts "$work/text" --ctm "$work/table.ctm"
message='--folder and --csv have recordings of their own' table --folder "$work/table" --ctm "$work/table.ctm"
message='which this run reads' table --ctm "$work/table/all.csv"

# Folders that are passed over are named.
mkdir -p "$work/links/a"
cp "$work/speech/001.wav" "$work/speech/001.txt" "$work/links/a" 2>/dev/null || text_of 001 >"$work/links/a/001.txt"
ln -s .. "$work/links/a/up"
align --folder "$work/links" --ctm "$work/links.ctm" 2>"$work/log" || failed "$(cat "$work/log")"
grep "warning: .*links/a/up: is a link to a folder, which is not followed" "$work/log" >/dev/null || failed "$(cat "$work/log")"
mkdir "$work/links/closed"
chmod 0 "$work/links/closed"
if ! ls "$work/links/closed" >/dev/null 2>&1; then  # root may read it
  align --folder "$work/links" --ctm "$work/links.ctm" 2>"$work/log" || failed "$(cat "$work/log")"
  grep "warning: .*links/closed: the folder cannot be read" "$work/log" >/dev/null || failed "$(cat "$work/log")"
fi
rmdir "$work/links/closed"

# A data directory of Kaldi.
mkdir "$work/kaldi"
printf '%s\n' "x $work/speech/001.wav" "y $work/speech/002.wav" >"$work/kaldi/wav.scp"
printf 'x %s\ny %s\n' "$(text_of 001)" "$(text_of 002)" >"$work/kaldi/text"
align --folder "$work/kaldi" --ctm "$work/kaldi.ctm" 2>/dev/null
diff <(grep -E '^00[12]' "$work/words" | cut -d ' ' -f 2-) <(cut -d ' ' -f 2- "$work/kaldi.ctm") || failed "other times"

# Its segments have times of their own, and the words of the recordings from which they are cut.
for name in 001 002 003; do tail -c +45 "$work/speech/$name.wav"; done >"$work/kaldi/all.raw"
seconds() { echo "$(stat -c %s "$work/speech/$1.wav")" | awk '{ print ($1 - 44) / 32000 }'; }
first=$(seconds 001) second=$(awk "BEGIN { print $(seconds 001) + $(seconds 002) }")
printf 'all %s\n' "$work/kaldi/all.raw" >"$work/kaldi/wav.scp"
printf '%s\n' "x all 0 $first" "y all $first $second" "z all $second -1" "late all 100 101" "long all 0 100" "none other 0 1" "back all 2 1" "early all -1 1" \
  >"$work/kaldi/segments"
printf 'x %s\ny %s\nz %s\nlate a\nlong a\n' "$(text_of 001)" "$(text_of 002)" "$(text_of 003)" >"$work/kaldi/text"
if align --raw-rate 16000 --folder "$work/kaldi" --ctm "$work/kaldi.ctm" 2>"$work/log"; then failed "bad segments pass"; fi
diff <(grep -E '^00[123]' "$work/words" | cut -d ' ' -f 2-) <(cut -d ' ' -f 2- "$work/kaldi.ctm") || failed "other times: $(cat "$work/log")"
for message in 'late: .*all.raw: ends at .* s, before the end of the part from 100.00 s on' 'long: .*all.raw: ends at ' \
  'segments:6: names the recording "other", which wav.scp does not have' 'segments:7: ends before it begins' \
  'segments:8: begins before the recording' '3 of 8 recordings'; do
  grep "$message" "$work/log" >/dev/null || failed "$message: $(cat "$work/log")"
done
echo "align.sh: $(wc -l <"$work/words") words, $(wc -l <"$work/phones") phones"
