#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# opencl.sh SENONE checks that the OpenCL back ends, on the first device of each (PoCL suffices), give the CPU's words.
# The data (SENONE_TEST_DATA) are AN4 dev with the continuous AN4 model, and four utterances of kaldi_20k. A few
# recordings of AN4 have live means or running means, which the device computes itself.
set -euo pipefail
senone=$1
data=${SENONE_TEST_DATA:-}
[[ -n $data && -d $data/an4 ]] || { echo "skipped: SENONE_TEST_DATA names no directory with an4/"; exit 77; }
export SENONE_PLUGINS=cpu,ocl_nvidia,ocl_amd # named, so that OpenCL is loaded without a GPU, too
devices=$("$senone" devices | grep -o '^ocl_[a-z]*:0' || true)
[[ -n $devices ]] || { echo "skipped: no OpenCL device"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# check NAME ARGUMENT... compares the results of recognize with these arguments on each device.
check() {
  local name=$1 device
  shift
  "$senone" recognize "$@" --device cpu --hyp "$work/cpu" >/dev/null 2>&1
  [[ -s $work/cpu ]] || { echo "$name: nothing recognised"; status=1; }
  for device in $devices; do
    rm -f "$work/hyp"
    "$senone" recognize "$@" --device "$device" --hyp "$work/hyp" >/dev/null 2>"$work/errors" || tail -n 1 "$work/errors"
    if cmp -s "$work/cpu" "$work/hyp"; then
      echo "$name on $device: $(wc -l <"$work/hyp") utterances, the words of the CPU"
    else
      echo "$name on $device: other words than on the CPU"
      diff "$work/cpu" "$work/hyp" || status=1
    fi
  done
}

an4=$data/an4
sed "s|.*|$an4/&.flac|" "$an4/etc/an4_test_dev.fileids" >"$work/list"
"$senone" import sphinx "$data/cmusphinx_an4_cont8" "$work/an4_cont8" >/dev/null 2>&1
"$senone" graph --model "$work/an4_cont8" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
check an4_dev --model "$work/an4_cont8" --list "$work/list"
head -n 15 "$work/list" >"$work/few"
check an4_dev_live --model "$work/an4_cont8" --list "$work/few" --cmn live
sed -i 's/"cmn_lookahead_frames": *40/"cmn_lookahead_frames": 0/' "$work/an4_cont8/senone.json"
check an4_dev_running --model "$work/an4_cont8" --list "$work/few" --cmn live

from=$data/kaldi_20k
if [[ -d $from ]]; then
  xz -dc "$from/HCLG.fst.xz" >"$work/HCLG.fst"
  "$senone" import kaldi "$from/final.main.mdl" "$work/20k" --phones "$from/phones.txt" --features-only >/dev/null 2>&1
  "$senone" graph --model "$work/20k" --hclg "$work/HCLG.fst" --words "$from/words.txt" >/dev/null
  end=$(grep -abo 'test-00004 ' "$from/test.feats.ark" | head -n 1 | cut -d: -f1)
  head -c "$end" "$from/test.feats.ark" >"$work/feats.ark"
  check kaldi_20k --model "$work/20k" --features "ark:$work/feats.ark" --beam 13 --max-active 7000 --acoustic-scale 0.0769
fi
exit $status
