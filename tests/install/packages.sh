#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh FOLDER SOURCE installs the Debian packages in FOLDER into a clean Debian without a compiler, and runs
# packages_inside.sh there. The Debian is a chroot of mmdebstrap, which downloads it. Exit status 77: no such chroot can
# be made here.
set -euo pipefail
folder=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "${BASH_SOURCE[0]}")/digits.sh"
command -v mmdebstrap >/dev/null || { echo "skipped: mmdebstrap is missing"; exit 77; }

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$work/in/bindings/cpp"
cp -r "$folder"/*.deb "$source/tests/install" "$source/samples" "$data" "$data/../goforward.raw" "$work/in"
cp -r "$source/bindings/cpp/examples" "$work/in/bindings/cpp"
mmdebstrap --variant=apt --customize-hook="copy-in $work/in /" --customize-hook='chroot "$1" bash /in/install/packages_inside.sh' \
  "$suite" /dev/null >"$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "the packages in a clean $suite"; }
grep '^inside: ' "$work/log"
