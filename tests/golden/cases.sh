#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cases.sh SENONE tries each file of ../data/cases as the person would who brings it, and checks that it is read right or
# refused clearly. These are small inputs that other recognisers were reported to misread, and each has a line `tries FILE` here.
set -euo pipefail
senone=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
files=$here/../data/cases
. "$here/needs.sh"
en_us=/usr/share/pocketsphinx/model/en-us
test_data=/usr/share/pocketsphinx/test/data
need_folders "$en_us" "$test_data"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$files"/* "$work"
cd "$work"
dictionary=$en_us/cmudict-en-us.dict
status=0 given='' tried=' '

# tries FILE... names what the following lines try.
tries() { given=$*; tried+="$* "; }

# fails WHAT reports a wrong result, with what the last command printed.
fails() {
  echo "$given: $*" >&2
  sed 's/^/    out: /' out >&2
  sed 's/^/    err: /' err >&2
  status=1
}

# ends CODE COMMAND... runs a command of senone, whose exit code must be CODE.
ends() {
  local code=0
  "$senone" "${@:2}" >out 2>err || code=$?
  ((code == $1)) || fails "exit code $code of ${*:2}"
}

# prints TEXT: the last command has printed a line TEXT, to which a name may belong; says TEXT: TEXT is in its messages.
prints() { grep -Exq "([^[:space:]]+[[:space:]])?$1" out || fails "does not print: $1"; }
prints_no() { ! grep -Eq "$1" out || fails "prints: $1"; }
says() { grep -Eq "$1" err || fails "does not say: $1"; }
says_no() { ! grep -Eq "$1" err || fails "says: $1"; }

words='go forward ten meters'
ends 0 import sphinx "$en_us/en-us" GO
ends 0 graph --model GO --lexicon "$dictionary" --jsgf "$test_data/goforward.gram"

# hears FILE RATE: the words of FILE are the same by each way in.
hears() {
  ends 0 recognize --model GO "$1"
  prints "$words"
  ends 0 recognize --model GO - <"$1"
  prints "$words"
  ends 0 recognize --model GO --endpoint command - <"$1"
  prints "$words"
  [[ -n $python ]] || return 0
  "$python" -m senone.batch --quiet --model GO --device cpu --out batch.jsonl "$1" >out 2>err || fails "senone.batch"
  grep -q "\"text\": *\"$words\"" batch.jsonl || fails "other words of senone.batch"
  rm batch.jsonl
  "$python" -c 'import senone, sys
engine = senone.Engine("GO", device="cpu")
for source in sys.argv[1], open(sys.argv[1], "rb").read(): print("python", engine.recognize(source).text)' "$1" >out 2>err ||
    fails "Python"
  [[ $(grep -c "^python $words\$" out) == 2 ]] || fails "other words of Python"
}
export SENONE_LIBRARY=${SENONE_LIBRARY:-$(dirname "$senone")/../lib/libsenone.so.0} PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$here/../../bindings/python/src
python=${SENONE_PYTHON:-python3}
[[ -f $SENONE_LIBRARY ]] || { python=; echo "Python is not tried: no library is at $SENONE_LIBRARY"; }

tries wav_data_size_0.wav
hears "$given"
tries wav_header_says_half_second.wav
hears "$given"
ends 0 recognize --model GO "$given"
says "has 8000 samples by its header, and 36580 more, which are heard"
tries stereo_antiphase.wav
hears "$given"
ends 0 recognize --model GO "$given"
says "channels that cancel each other, so that channel 0, the louder, is heard"
ends 0 recognize --model GO --channel 1 "$given"
prints "$words"
says_no "cancel"

# The words come before the input ends, which it does when they have come.
tries ulaw.wav
hears "$given"
mkfifo live
"$senone" recognize --model GO --endpoint command - <live >out 2>err &
exec 9>live
cat ulaw.wav >&9
head -c 16000 /dev/zero | tr '\0' '\377' >&9 # two seconds of silence
for ((i = 0; i < 600; ++i)); do
  ! grep -q "$words" out || break
  sleep 0.1
done
grep -q "$words" out || fails "no words of live input after a minute"
exec 9>&-
wait

tries webm_magic_then_noise.webm
ends 1 recognize --model GO - <"$given"
says "WebM or Matroska.*convert it: ffmpeg -i"
ends 1 recognize --model GO "$given"
says "WebM or Matroska.*convert it: ffmpeg -i"
ends 0 recognize --model GO --raw-format s16le "$given"
says "begins like WebM or Matroska, but is taken for samples"

tries import.jsgf
ends 1 graph --model GO --out imported --lexicon "$dictionary" --jsgf "$given"
says "line 3, column 8: there is no file of the grammar com.acme.politeness, such as com.acme.politeness.gram"
printf '#JSGF V1.0;\ngrammar com.acme.politeness;\npublic <startPolite> = please;\npublic <endPolite> = [thanks];\n' \
  >com.acme.politeness.gram
ends 0 graph --model GO --out imported --lexicon "$dictionary" --jsgf "$given"
tries jsgf_weight_8f.jsgf
ends 0 graph --model GO --out weights --lexicon "$dictionary" --jsgf "$given"
ends 0 recognize --model weights wav_data_size_0.wav
prints "$words"
sed 's/| .*/| \/2\/ <com.acme.w.other>; <other> = stop;/; s/grammar w/grammar com.acme.w/' "$given" >own.jsgf # own rules in full
ends 0 graph --model GO --out weights --lexicon "$dictionary" --jsgf own.jsgf

tries base.arpa base.dict bom.arpa
ends 0 graph --model GO --out base --lexicon base.dict --lm base.arpa
ends 0 graph --model GO --out bom --lexicon base.dict --lm bom.arpa
cmp base/graph.bin bom/graph.bin || fails "a BOM changes the graph"
ends 0 recognize --model bom wav_data_size_0.wav
prints "$words"
tries posprob.arpa
ends 1 graph --model GO --out refused --lexicon base.dict --lm "$given"
says "posprob.arpa: line 27: 0.05 is the logarithm of a probability above 1"
tries backward.arpa
ends 0 graph --model GO --out backward --lexicon base.dict --lm "$given"
says "no n-gram makes </s> likely.*right-to-left"

tries hashcomment.dict
ends 0 graph --model GO --out comment --lexicon "$given" --lm base.arpa
cmp base/graph.bin comment/graph.bin || fails "comments change the graph"
tries comment_in_line.dict
ends 0 g2p --train "$given" --out comments.g2p
ends 0 g2p --model comments.g2p bats
prints "bats +B AE T S"
tries unkphone.dict
ends 1 graph --model GO --out refused --lexicon "$given" --lm base.arpa
says "ten.*line 3.*XX|line 3.*ten.*XX"
says_no "no pronunciation: ten$"
tries lexiconp.dict
ends 0 graph --model GO --out probable --lexicon "$given" --lm base.arpa
cmp base/graph.bin probable/graph.bin || fails "probabilities of 1 change the graph"

tries g2p_words_one_bad.txt
head -n 3000 "$dictionary" | cat - base.dict >small.dict
echo 'please P L IY Z' >>small.dict
ends 0 g2p --train small.dict --out small.g2p
ends 1 g2p --model small.g2p - <"$given"
prints "please +P L .*"
prints "meters +M .*"
says "standard input, line 2: 'Please' has the letter 'P'"
says "1 of 3 words got no pronunciation"
ends 1 g2p --model small.g2p "$given"
says "is a file"

tries octal.mmf
ends 0 import htk "$given" octal --features-only
printf 'w a\nv ä\n' >mmf.dict
printf 'w\nv\n' >mmf.words
ends 0 graph --model octal --lexicon mmf.dict --words mmf.words
tries escq.mmf
ends 0 import htk "$given" quoted --features-only
printf 'w a\nv b"x\n' >mmf.dict
ends 0 graph --model quoted --lexicon mmf.dict --words mmf.words
tries rclass.mmf
ends 0 import htk "$given" classes --features-only
tries transp_bad.mmf
ends 1 import htk "$given" refused --features-only
says "transp_bad.mmf:15: row 2 of a transition matrix adds up to 1.4, not 1"
tries simplediffs.config
ends 1 import htk rclass.mmf refused --config "$given"
says "simplediffs.config: SIMPLEDIFFS is T, which changes the features"

tries dup_ids.list
ends 1 recognize --model GO --list "$given"
says 'lines 1 and 2 both have the id "a"'
prints_no '.'
tries dup_paths.lat
printf '<eps> 0\none 1\ntwo 2\n' >numbers
ends 0 lattice nbest "$given" --words numbers --acoustic-scale 1
[[ $(cat out) == 'u-1 one two' ]] || fails "not one line"

tries not_said.jsgf
ends 0 graph --model GO --out not_said --lexicon "$dictionary" --jsgf "$given"
ends 0 recognize --model not_said wav_data_size_0.wav
prints_no 'please'
says "wav_data_size_0.wav: stops in the middle of a sentence"
says "1 of 1 utterances did not reach the end of a sentence"
ends 0 recognize --model not_said --reject off --strict --ctm wav_data_size_0.wav
prints_no 'please'

# A pause between two words, by a silence phone of any name.
tries one.mdl phones.txt phones_pau.txt lex words pause.ark
ends 0 import kaldi one.mdl named --features-only --phones phones.txt
says_no "silence"
ends 0 import kaldi one.mdl pau --features-only --phones phones_pau.txt --silence pau
says_no "silence"
for model in named pau; do
  ends 0 graph --model "$model" --lexicon lex --words words
  says "too few phones to tell by them what is not in a grammar"
  ends 0 recognize --model "$model" --features ark:pause.ark
  prints "a b"
  ends 0 recognize --model "$model" --features ark:pause.ark --acoustic-scale 1
  prints "a b"
done
ends 0 import kaldi one.mdl unnamed --features-only --phones phones_pau.txt
says "no phone is known as silence.*--silence"
ends 0 graph --model unnamed --lexicon lex --words words --silence pau
ends 0 recognize --model unnamed --features ark:pause.ark
prints "a b"

tries chain.mdl
ends 0 import kaldi "$given" chain --features-only --phones phones.txt
says "two pdfs, one for the first frame and one for the others, as chain models"
ends 1 graph --model chain --lexicon lex --words words
says "no graphs are built for those: give .* one of Kaldi with --hclg"
tries loglikes_with_minus_inf.ark
ends 0 recognize --model named --loglikes "ark:$given"
prints "ab"

tries silence_4h.flac
ends 0 recognize --model GO --max-hours 0.05 "$given"
prints ''
says "longer than"

if [[ -d ${SENONE_TEST_DATA:-}/kaldi_indonesian ]]; then
  from=$SENONE_TEST_DATA/kaldi_indonesian
  sed -i "s,DATA,$SENONE_TEST_DATA," ./*.scp
  ends 0 import kaldi "$from/exp/mono/40.mdl" ID --phones "$from/data/lang/phones.txt" --mfcc-conf "$from/conf/mfcc.conf"
  ends 0 graph --model ID --hclg "$from/exp/mono/graph/HCLG.fst" --words "$from/exp/mono/graph/words.txt"
  second='Female-1-Female-1_27'

  # others: three of the four utterances are heard.
  others() { [[ $(grep -c "^Female-1-Female-1_..	..*" out) == "$1" ]] || fails "not $1 results"; }
  tries over1.scp
  ends 0 recognize --model ID --features "scp:$given"
  others 4
  says "over1.scp:2: $second: rows 0 to 376 are asked for, but there are 376; the range is cut"
  tries nooff.scp
  ends 1 recognize --model ID --features "scp:$given"
  others 3
  says "nooff.scp:2: $second: .* is an archive of several entries; this one is .*:5107"
  says "1 of 4 utterances failed"
  tries pipe.scp
  ends 1 recognize --model ID --features "scp:$given"
  others 3
  says "pipe.scp:2: $second: is a command \(a pipe\)"
  says "1 of 4 utterances failed"
  tries cols.scp
  ends 0 recognize --model ID --features "scp:$given"
  others 4
else
  echo "the .scp files are not tried: SENONE_TEST_DATA names no directory with kaldi_indonesian/"
  tried+='over1.scp nooff.scp pipe.scp cols.scp '
fi

for file in "$files"/*; do
  [[ ${file##*/} == README.md || $tried == *" ${file##*/} "* ]] || { echo "${file##*/} is tried by no line" >&2; status=1; }
done
exit $status
