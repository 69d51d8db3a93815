#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# container.sh SOURCE runs the lines of the Containerfile in a chroot of mmdebstrap that resembles the named image, as no
# container engine may be installed. It then runs the entry point on a recording. Needs the packages of `./dev packages`. Exit
# status 77: no such chroot can be made here.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"
command -v mmdebstrap >/dev/null || { echo "skipped: mmdebstrap is missing"; exit 77; }
debs=$source/build/packages/debs
compgen -G "$debs/*.deb" >/dev/null || { echo "skipped: $debs has no packages; ./dev packages makes them"; exit 77; }

# The context is what .dockerignore leaves of the tree: the packages.
[[ $(sed '/^#/d' "$source/.dockerignore") == $'*\n!build/packages/debs/*.deb' ]] || fail ".dockerignore names other files"
mkdir -p "$work/context/build/packages/debs"
cp "$debs"/*.deb "$work/context/build/packages/debs"

# Converts lines of the Containerfile, continued ones joined, to steps of a script in the chroot and commands before it.
image='' entry='' folder=/ command=''
: >"$work/inside.sh"
while read -r instruction arguments; do
  case $instruction in
    FROM) image=$arguments ;;
    ENV) printf 'export %s\n' "$arguments" >>"$work/inside.sh" ;;
    COPY)
      read -r from to <<<"$arguments"
      [[ -e $work/context/$from ]] || fail "COPY $from: is not in the context"
      mkdir -p "$work/image$to"
      cp -r "$work/context/$from/." "$work/image$to"
      ;;
    RUN) printf '%s || exit 1\n' "{ $arguments; }" >>"$work/inside.sh" ;;
    WORKDIR) folder=$arguments ;;
    ENTRYPOINT) entry=$(tr -d '[]",' <<<"$arguments") ;;
    CMD) command=$(tr -d '[]",' <<<"$arguments") ;;
    *) fail "the Containerfile has $instruction, which this test does not know" ;;
  esac
done < <(sed -e '/^#/d' -e ':join' -e '/\\$/{N;s/\\\n */ /;b join' -e '}' "$source/Containerfile")
[[ $image == docker.io/library/debian:12-slim ]] || fail "the image is $image"
grep -q '^VERSION_ID="12"$' /etc/os-release || { echo "skipped: packages for Debian 12 are tried from Debian 12"; exit 77; }

mkdir -p "$work/image/data"
cp "$recording" "$work/image/data/recording.raw"
make_bundle "${SENONE:-$source/build/packages/bin/senone}"
mv "$bundle" "$work/image/data/bundle"
{
  printf 'mkdir -p %s && cd %s || exit 1\n' "$folder" "$folder"
  printf '%s %s >/tmp/help && echo "inside: %s %s: $(head -n 1 /tmp/help)" || exit 1\n' "$entry" "$command" "$entry" "$command"
  printf 'words=$(%s recognize --model bundle recording.raw) || exit 1\n' "$entry"
  printf 'echo "inside: the entry point says: $words"\n'
  printf 'case $words in *"two nine three four zero"*) ;; *) exit 1 ;; esac\n'
  printf '[ ! -e /tmp/debs ] && [ -z "$(ls /var/lib/apt/lists)" ] && ! command -v cc || exit 1\n'
} >>"$work/inside.sh"
mkdir -p "$work/image/etc/dpkg/dpkg.cfg.d" # as in slim images
printf 'path-exclude /usr/share/%s/*\n' doc man locale >"$work/image/etc/dpkg/dpkg.cfg.d/docker"
echo 'path-include /usr/share/doc/*/copyright' >>"$work/image/etc/dpkg/dpkg.cfg.d/docker"
cp "$work/inside.sh" "$work/image/inside.sh"
mmdebstrap --variant=apt --customize-hook="sync-in $work/image /" --customize-hook='chroot "$1" sh /inside.sh' \
  bookworm /dev/null >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "the Containerfile in a clean Debian 12"; }
grep '^inside: ' "$work/log"
