#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kept inputs of the fuzz targets: tests/fuzz/corpus/TARGET.tar, an archive for each target. The tests, ./dev fuzz and
# people use them through this script:
#   corpus.sh unpack DIR [TARGET...]    unpacks the archives of these targets, or all, into DIR/TARGET
#   corpus.sh pack DIR TARGET           makes the archive of TARGET from the files in DIR
#   corpus.sh add TARGET FILE [NAME]    adds FILE to the archive, as NAME (default: the name of the file)
#   corpus.sh remove TARGET NAME        removes an input
#   corpus.sh list [TARGET...]          prints "SHA-256  TARGET/NAME" of each input
#   corpus.sh check                     fails unless every archive is that of a target and has the bytes that pack makes
# The bytes of an archive depend on the names and bytes of its inputs alone: members are sorted by name and belong to nobody,
# their time is 0. It is not compressed, because git compresses it and stores a new version as a difference.
set -euo pipefail
fuzz=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() { echo "corpus.sh: $*" >&2; exit 1; }

# in_a_folder runs the rest of a command with $folder, which is removed at the end.
in_a_folder() {
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  "$@"
}

all_targets() { basename -s .cc -a "$fuzz"/targets/*.cc; }

must_be_target() { [[ -f $fuzz/targets/$1.cc ]] || fail "there is no target \"$1\" in tests/fuzz/targets"; }

# write_archive DIR ARCHIVE
write_archive() {
  tar --create --file "$2" --directory "$1" --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --mode=0644 --blocking-factor=1 --files-from <(cd "$1" && find . -type f -printf '%P\n' | LC_ALL=C sort)
}

# A target that has no archive yet gets an empty folder.
unpack() {
  local to=$1 targets=("${@:2}") target
  ((${#targets[@]})) || mapfile -t targets < <(all_targets)
  for target in "${targets[@]}"; do
    must_be_target "$target"
    rm -rf "${to:?}/$target"
    mkdir -p "$to/$target"
    [[ ! -f $fuzz/corpus/$target.tar ]] ||
      tar --extract --file "$fuzz/corpus/$target.tar" --directory "$to/$target" --no-same-owner
  done
}

# The archive appears whole under its name, or not at all.
pack() {
  must_be_target "$2"
  mkdir -p "$fuzz/corpus"
  write_archive "$1" "$fuzz/corpus/$2.tar.new"
  mv "$fuzz/corpus/$2.tar.new" "$fuzz/corpus/$2.tar"
}

add() {
  local target=$1 file=$2 name=${3:-$(basename "$2")}
  must_be_target "$target"
  [[ -f $file ]] || fail "$file is no file"
  [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] || fail "an input cannot be named \"$name\"; use letters, digits and . _ -"
  unpack "$folder" "$target"
  [[ ! -e $folder/$target/$name ]] || fail "$target has an input $name already"
  cp "$file" "$folder/$target/$name"
  pack "$folder/$target" "$target"
}

remove() {
  must_be_target "$1"
  unpack "$folder" "$1"
  [[ -f $folder/$1/$2 ]] || fail "$1 has no input $2"
  rm "$folder/$1/$2"
  pack "$folder/$1" "$1"
}

list() {
  unpack "$folder" "$@"
  (cd "$folder" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs --no-run-if-empty sha256sum)
}

check() {
  local archive target
  for archive in "$fuzz"/corpus/*; do
    target=$(basename -s .tar "$archive")
    unpack "$folder" "$target"
    write_archive "$folder/$target" "$folder/$target.tar"
    cmp -s "$folder/$target.tar" "$archive" ||
      fail "corpus/$target.tar is not what \"corpus.sh pack\" makes of its inputs; was it made by another tar?"
  done
}

usage() { sed -n '5,10s/^#   //p' "${BASH_SOURCE[0]}" >&2; exit 2; }

command=${1:-}
shift || usage
case $command:$# in
  unpack:[1-9]*) unpack "$@" ;;
  pack:2) pack "$@" ;;
  add:[23] | remove:2 | list:* | check:0) in_a_folder "$command" "$@" ;;
  *) usage ;;
esac
