#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Embeds small kernels with cmake/embed_kernel.cmake. Every file is in the text once, and includes for the host are not.
# An include that does not exist stops the build with a message. PTX embedded with cmake/embed_ptx.cmake says which parameters
# are arrays. Argument: the source folder.
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

for version in '.param .u64 scores_param_1,' '.param .u64 .ptr .align 1 scores_param_1,'; do  # of two releases of nvcc
  printf '%s\n' '// Generated' '.version 9.0' '.target sm_90a' '// a comment' '.visible .entry scores(' \
    '	.param .align 4 .b8 scores_param_0[8],' "	$version" '	.param .u32 scores_param_2' ')' '{' '// inline' \
    '	ld.param.u64 	%rd1, [scores_param_1];' 'ret; }' >"$work/scores.ptx"
  cmake -DINPUT="$work/scores.ptx" -DOUTPUT="$work/out.cc" -DNAME=scores -P "$root/cmake/embed_ptx.cmake" >"$work/log" 2>&1 ||
    wrong "PTX is not embedded"
  text=$(sed -n '/SENONE_PTX(/,/)SENONE_PTX/p' "$work/out.cc" | grep -v '^const' | tr -s '\t\n' ' ')
  [[ $text == '.version 8.0 .target sm_90a .visible .entry scores( .param .align 4 .b8 scores_param_0[8], '\
'.param .u64 .ptr .global .align 16 scores_param_1, .param .u32 scores_param_2 ) { ld.param.u64 %rd1, [scores_param_1]; ret; } '* ]] ||
    wrong "the PTX is: $text"
done
exit $status
