#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu_kit.sh BUILD OUT.tar.xz packs the files of bench/accept.sh for a machine that cannot build or download. BUILD is a build
# folder with tests and plugins (senone, conformance, stress, neighbour). Data: SENONE_TEST_DATA, and en-us of Debian's
# pocketsphinx-en-us and -testdata; missing data is left out and reported. The CPU's reference results are made here, which
# takes some minutes. EN_US_PRUNE (1e-5) sets the size of the graph of en-us. The archive has one folder, senone-kit; there:
#   tar xf OUT.tar.xz && senone-kit/bench/gpu.sh accept
set -euo pipefail
(($# == 2)) || { echo "usage: gpu_kit.sh BUILD OUT.tar.xz" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "$1") archive=$(realpath -m "$2") data=${SENONE_TEST_DATA:-}
en_us=/usr/share/pocketsphinx/model/en-us recordings=/usr/share/pocketsphinx/test/data/librivox
from=$data/kaldi_20k
[[ -d $from ]] || { echo "gpu_kit.sh: SENONE_TEST_DATA names no directory with kaldi_20k/" >&2; exit 1; }
for program in senone conformance stress neighbour; do
  [[ -x $build/bin/$program ]] || { echo "gpu_kit.sh: $1 has no bin/$program; build it there, with tests" >&2; exit 1; }
done
{ : >"$archive.part"; } 2>/dev/null || { echo "gpu_kit.sh: $2 cannot be written; name a file in a folder that can" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work" "$archive.part"' EXIT
kit=$work/senone-kit
mkdir -p "$kit"/{bin,lib,libs,bench,cpu,audio}
senone=$kit/bin/senone
export SENONE_PLUGINS=cpu

say() { printf '%s\n' "$*" >&2; }

# Copies shared libraries of programs and plugins, except those that every system has.
pack_programs() {
  local file
  cp "$build"/bin/{senone,conformance,stress,neighbour} "$kit/bin"
  cp -a "$build"/lib*/libsenone.so* "$build"/lib*/senone "$kit/lib"
  for file in "$kit"/bin/* "$kit"/lib/senone/plugins/*; do
    LD_LIBRARY_PATH=$kit/lib ldd "$file" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
  done | sort -u | grep -Ev '/(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux[^/]*|libsenone)\.so' |
    xargs -r cp -Lt "$kit/libs"
  strip --strip-unneeded "$kit"/bin/* "$kit"/lib/libsenone.so.*.* "$kit"/lib/senone/plugins/* "$kit"/libs/*
  cp "$here"/{accept,accept_report,gpu,lattice_widths}.sh "$here"/{compare_results,copies}.py "$kit/bench"
  git -C "$here" rev-parse --short HEAD >"$kit/commit" 2>/dev/null || echo unknown >"$kit/commit"
  export LD_LIBRARY_PATH=$kit/libs:$kit/lib SENONE_PLUGIN_PATH=$kit/lib/senone/plugins
}

# recognize NAME OPTION... writes the CPU's results to cpu/NAME.json, without paths.
recognize() {
  local name=$1
  shift
  say "CPU: $name"
  if ! "$senone" recognize --device cpu --json "$@" 2>"$work/log" >"$work/json"; then
    cat "$work/log" >&2
    exit 1
  fi
  sed 's/"file":"[^"]*",//' "$work/json" >"$kit/cpu/$name.json"
}

pack_kaldi_20k() {
  local features options=(--model "$kit/20k" --beam 13 --max-active 7000 --acoustic-scale 0.0769)
  xz -dc "$from/HCLG.fst.xz" >"$work/HCLG.fst"
  "$senone" import kaldi "$from/final.main.mdl" "$kit/20k" --phones "$from/phones.txt" --features-only >/dev/null 2>&1
  "$senone" graph --model "$kit/20k" --hclg "$work/HCLG.fst" --words "$from/words.txt" >/dev/null
  cp "$from/test.feats.ark" "$kit/plain.ark"
  "$here/noisy_features.py" "$kit/plain.ark" "$kit/noisy.ark" --deviation 3
  "$here/noisy_features.py" "$kit/plain.ark" "$kit/one.ark" --only test-00006  # 660 frames
  "$here/noisy_features.py" "$kit/one.ark" "$kit/cut.ark" --frames 1  # racecheck takes a minute for it
  for features in plain noisy; do
    recognize "20k.$features.best" "${options[@]}" --features "ark:$kit/$features.ark"
    recognize "20k.$features.lattices" "${options[@]}" --features "ark:$kit/$features.ark" --lattice-beam 8 \
      --lattice "$kit/cpu/20k.$features.lattices.lat"
  done
  for features in one cut; do
    recognize "20k.$features" "${options[@]}" --features "ark:$kit/$features.ark" --lattice-beam 8
  done
}

# pack_audio NAME FILE... packs recordings, their list ("file id") and the CPU's results with both kinds of mean.
pack_audio() {
  local name=$1 cmn
  shift
  mkdir -p "$kit/audio/$name"
  cp "$@" "$kit/audio/$name"
  for file; do file=${file##*/} && echo "$file ${file%.*}"; done >"$kit/audio/$name.list"
  awk -v folder="$kit/audio/$name" '{ print folder "/" $1, $2 }' "$kit/audio/$name.list" >"$work/list"
  for cmn in model live; do
    recognize "$name.$cmn" --model "$kit/$name" --list "$work/list" --cmn "$cmn" --lattice-beam 8 \
      --lattice "$kit/cpu/$name.$cmn.lat"
  done
}

pack_an4() {
  local an4=$data/an4 files
  [[ -d $an4 && -d $data/cmusphinx_an4_cont8 ]] || { say "without AN4: SENONE_TEST_DATA has no an4/"; return; }
  "$senone" import sphinx "$data/cmusphinx_an4_cont8" "$kit/an4" >/dev/null 2>&1
  "$senone" graph --model "$kit/an4" --lexicon "$an4/etc/an4.dic" --lm "$an4/etc/an4_train.2g.arpa" >/dev/null
  mapfile -t files < <(sed "s|.*|$an4/&.flac|" "$an4/etc/an4_test_dev.fileids")
  pack_audio an4 "${files[@]}"
}

pack_en_us() {
  [[ -d $en_us && -d $recordings ]] || { say "without en-us: $en_us or $recordings is missing"; return; }
  "$senone" import sphinx "$en_us/en-us" "$kit/en-us" >/dev/null 2>&1
  "$senone" graph --model "$kit/en-us" --lexicon "$en_us/cmudict-en-us.dict" --lm "$en_us/en-us.lm.bin" \
    --prune "${EN_US_PRUNE:-1e-5}" >/dev/null 2>&1
  pack_audio en-us "$recordings"/*.wav
}

# Packs the warps that the CPU finds for each recording.
pack_warps() {
  local name
  for name in an4 en-us; do
    [[ -d $kit/$name ]] || continue
    awk -v folder="$kit/audio/$name" '{ print folder "/" $1, $2 }' "$kit/audio/$name.list" >"$work/list"
    recognize "$name.warped" --model "$kit/$name" --list "$work/list" --vtln search --vtln-factors 21 \
      --save-warps "$kit/cpu/$name.warps"
  done
}

# Packs a recogniser of commands for the part "neighbour", which compares the device with itself. It has AN4's recordings.
pack_commands() {
  [[ -d $kit/en-us && -d $kit/an4 ]] || { say "without commands: en-us or AN4 is missing"; return; }
  printf '#JSGF V1.0;\ngrammar commands;\npublic <command> = (%s)+;\n' \
    "$(printf '%s | ' yes no stop start go help enter erase repeat one two three four five six seven eight nine)zero" \
    >"$work/commands.jsgf"
  "$senone" graph --model "$kit/en-us" --lexicon "$en_us/cmudict-en-us.dict" --jsgf "$work/commands.jsgf" \
    --out "$kit/commands" >/dev/null 2>&1
}

pack_programs
pack_kaldi_20k
pack_an4
pack_en_us
pack_warps
pack_commands
say "packing"
# Most of the content is graphs, whose arcs have 16 bytes each: with these byte positions they take a tenth less.
tar -C "$work" -cf - senone-kit | xz -T0 --lzma2=preset=3,lc=0,lp=4,pb=4 >"$archive.part"
mv "$archive.part" "$archive"
say "$archive: $(($(stat -c %s "$archive") / 1000000)) MB"
