#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exports.sh LIBRARY HEADER [NAME PREFIX ABI] checks that the library exports exactly the functions of its header that
# begin with PREFIX. It must have its SONAME (NAME.so.N, N being the constant ABI), and need only the libraries listed
# here at run time.
set -euo pipefail
library=$1 header=$2 name=${3:-libsenone} prefix=${4:-asr_} abi_constant=${5:-ASR_ABI}
status=0

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(cc -E -x c "$header" | grep -o "\b$prefix[a-z0-9_]* *(" | tr -d '( ' | sort -u)
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "exports.sh: < is declared in $header, > is exported by $library" >&2
  status=1
fi

abi=$(sed -n 's/^#define '"$abi_constant"' //p' "$header")
readelf -d "$library" | grep "soname: \[$name.so.$abi\]" >/dev/null || { echo "exports.sh: no SONAME $name.so.$abi" >&2; status=1; }

allowed='libstdc\+\+\.so\.6|libgcc_s\.so\.1|libm\.so\.6|libc\.so\.6|ld-linux-.*'
[[ $name != libsenone_build ]] || allowed+='|libfst\.so\.[0-9]+|libfstscript\.so\.[0-9]+|libutf8proc\.so\.[0-9]+|liblzma\.so\.5|libbz2\.so\.1\.0|libz\.so\.1'
if readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Ev "^($allowed)$"; then
  echo "exports.sh: these libraries must not be needed at run time" >&2
  status=1
fi
exit $status
