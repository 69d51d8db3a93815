#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Embeds small kernels with cmake/embed_kernel.cmake. Every file is in the text once, and includes for the host are not.
# An include that does not exist stops the build with a sentence. Argument: the source folder.
set -uo pipefail
root=$1 work=$(mktemp -d) status=0
trap 'rm -rf "$work"' EXIT

embed() { # FILE: writes $work/out.cc
  cmake -DINPUT="$work/$1" -DOUTPUT="$work/out.cc" -DROOT="$work" -P "$root/cmake/embed_kernel.cmake" >"$work/log" 2>&1
}
wrong() {
  echo "$1"
  cat "$work/log"
  status=1
}

mkdir "$work/kernels"
printf 'the inner file\n' >"$work/kernels/inner.h"
printf '#include "kernels/inner.h"\nthe outer file\n' >"$work/kernels/outer.h"
printf '#include "kernels/outer.h"\n#include "kernels/inner.h"\n#include "host/vector.h"  // host only\nthe kernel\n' >"$work/good.cl"
embed good.cl || wrong "a kernel with includes is not embedded"
text=$(grep -E '^the |CL\(|#include "(kernels|host)' "$work/out.cc" | tr '\n' ' ')
[[ $text == *'CL(the inner file the outer file the kernel ' ]] || wrong "the text is: $text"

printf '#include "kernels/missing.h"\nthe kernel\n' >"$work/bad.cl"
embed bad.cl && wrong "an include that does not exist is left out"
tr -s ' \n' ' ' <"$work/log" | grep -q 'bad.cl includes "kernels/missing.h", which is not in' || wrong "the reason is not given"

for line in '#  include "kernels/missing.h"\n' '#include "kernels/inner.h"' '#include\t"kernels/inner.h"\n'; do
  printf '%b' "the kernel\n$line" >"$work/form.cl"
  embed form.cl && wrong "an include of another form is left in the text: $line"
done
exit $status
