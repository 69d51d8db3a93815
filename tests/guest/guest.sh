#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# guest.sh GUEST MAKE_TONE_BUNDLE checks that the library leaves its process, and the user's files, as they were (guest.cc):
# by the process itself, and under strace, if that is installed. PoCL, if installed, must not be loaded unless it is named.
set -euo pipefail
guest=$1 make_tone_bundle=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "guest.sh: $*" >&2; exit 1; }
"$make_tone_bundle" "$work/tones"
mkdir -m 700 "$work/home" "$work/run"
cache=${XDG_CACHE_HOME:-$work/named} pocl_cache=${POCL_CACHE_DIR:-$work/named/pocl}
export HOME=$work/home XDG_RUNTIME_DIR=$work/run
unset XDG_CACHE_HOME POCL_CACHE_DIR SENONE_DEVICE SENONE_PLUGINS SENONE_PLUGIN_PATH

"$guest" "$work/tones/bundle" || fail "the process is another one"
[[ -z $(ls -A "$HOME") ]] || fail "these were written: $(find "$HOME")"

# Named, OpenCL may be loaded. What its driver does to signals is put back.
SENONE_DEVICE=ocl_amd:0 XDG_CACHE_HOME=$cache POCL_CACHE_DIR=$pocl_cache "$guest" --list >"$work/list" ||
  { cat "$work/list"; fail "the process is another one after a driver was loaded"; }
tail -n 1 "$work/list"

"$guest" --swap 100 "$work/tones/bundle" "$work/tones/ends" || fail "memory grows with engines that are closed"

command -v strace >/dev/null || { echo "strace is not installed: what the library asks of the system was not checked"; exit 0; }
strace -f -qq -o "$work/trace" true 2>/dev/null || { echo "processes cannot be traced here"; exit 0; }
strace -f -qq -y -s 300 -o "$work/trace" "$guest" "$work/tones/bundle" >/dev/null || fail "the process is another one under strace"
sed -n '/guest begins/,/guest ends/p' "$work/trace" >"$work/calls"
(($(wc -l <"$work/calls") > 50)) || fail "nothing was traced"
# no PATTERN EXCEPT WHAT
no() {
  local found
  found=$(grep -E "$1" "$work/calls" | grep -vE "$2" | head -n 5 || true)
  [[ -z $found ]] || fail "$3: $found"
}
# The C library handles two signals of its own (SIGRT_1, and SIGRTMIN on some).
no 'rt_sigaction\(SIG[A-Z0-9_]+, \{' 'rt_sigaction\((SIGRT_1|SIGRTMIN),' "handlers were installed"
no 'sigaltstack\(\{' ' = -1 ' "signal stacks were set"
no 'open(at)?\(.*(O_WRONLY|O_RDWR|O_CREAT)' "[\"<]$work/run/senone|\"/proc/| = -1 " "files were opened for writing"
no '(mkdir|symlink|link|rename|unlink|chmod|chown|mknod|truncate|utimens)[a-z0-9]*\(' "[\"<]$work/run/senone|fchmod| = -1 " "files were changed"
no '(socket|connect|bind|execve|vfork|chdir|prctl\(PR_SET|setpriority|kill|umask|setrlimit)\(' 'tgkill|PR_SET_VMA|PR_SET_NAME| = -1 ' "these were called"
no '(write|writev)\([12]<[^>]*>,' '"(device|OpenCL) ' "the library printed"
echo "the process and the files of its user are as they were, by $(wc -l <"$work/calls") system calls"
