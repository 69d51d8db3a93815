#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exports.sh LIBRARY HEADER: the library exports the functions of its header and nothing else, has its SONAME, and needs no
# library at run time but those listed here.
set -euo pipefail
library=$1 header=$2
status=0

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(cc -E -x c "$header" | grep -o '\basr_[a-z0-9_]* *(' | tr -d '( ' | sort -u)
if ! diff <(echo "$declared") <(echo "$exported"); then
  echo "exports.sh: < is declared in $header, > is exported by $library" >&2
  status=1
fi

abi=$(sed -n 's/^#define ASR_ABI //p' "$header")
readelf -d "$library" | grep "soname: \[libsenone.so.$abi\]" >/dev/null || { echo "exports.sh: no SONAME libsenone.so.$abi" >&2; status=1; }

allowed='libstdc\+\+\.so\.6|libgcc_s\.so\.1|libm\.so\.6|libc\.so\.6|ld-linux-.*'
if readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Ev "^($allowed)$"; then
  echo "exports.sh: these libraries must not be needed at run time" >&2
  status=1
fi
exit $status
