#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tutorial.sh SENONE BUILD follows docs/tutorial.md: it writes the files, runs the commands in their order in one shell, and
# compares what they print. The build is installed, and stand-ins take the place of apt-get, pip and the installed server.
set -euo pipefail
senone=$1 build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"
need_folders /usr/share/pocketsphinx/model/en-us /usr/share/pocketsphinx/test/data
find_server_python
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/senone" >/dev/null
port=$("$found" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/bin"
printf '#!/bin/sh\n' | tee "$work/bin/sudo" >"$work/bin/pip"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$found" >"$work/bin/python3"
printf '#!/bin/sh\nexec "%s" -m senone.serve --port %s "$@"\n' "$found" "$port" >"$work/bin/senone-serve"
chmod +x "$work/bin"/*
export PATH=$work/bin:$PATH HOME=$work SENONE_LIBRARY=$work/senone/lib/libsenone.so.0 PYTHONDONTWRITEBYTECODE=1 SENONE_PLUGINS=cpu
export PYTHONPATH=$source/bindings/python/src

# Commands become lines `run COMMAND`, what they are to print lines `say TEXT`, files lie in the folder.
mkdir "$work/tutorial"
cd "$work/tutorial"
awk -v source="$source" -v port="$port" '
  { gsub(/localhost:2700/, "localhost:" port); gsub(/SOURCE/, source) }
  /^```/ { in_file = !in_file; next }
  in_file { print > name; next }
  match($0, /`[a-z]+\.[a-z]+`/) && !/samples\// { name = substr($0, RSTART + 1, RLENGTH - 2) }
  sub(/^    \$ /, "") { print "run " $0 >> "../steps"; next }
  sub(/^    /, "") { print "say " $0 >> "../steps" }' "$source/docs/tutorial.md"

n=0
: >../expected
run() {
  ((++n))
  : >../expected
  if [[ $1 == *'&' ]]; then
    eval "${1%&} 2>../server.log &"
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
      kill -0 $! 2>/dev/null || { cat ../server.log; echo "tutorial.sh: $1: ended" >&2; exit 1; }
      sleep 0.1
    done
  else
    eval "$1" >../printed 2>../errors || { cat ../printed ../errors; echo "tutorial.sh: $1 failed" >&2; exit 1; }
  fi
}
compare() {
  diff ../expected ../printed >../difference && return
  echo "tutorial.sh: $command prints something else:" >&2
  cat ../difference >&2
  exit 1
}
command=
: >../printed
while IFS= read -r line <&4; do
  case $line in
    run\ *)
      compare
      command=${line#run }
      : >../printed
      run "$command"
      ;;
    say\ *) printf '%s\n' "${line#say }" >>../expected ;;
  esac
done 4<../steps
compare
((n > 20)) || { echo "tutorial.sh: only $n commands were found in the page" >&2; exit 1; }
echo "$n commands of the tutorial"
