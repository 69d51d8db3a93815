#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# header.sh SOURCE checks that the C++ headers call every function of asr_build.h and asr.h.
set -euo pipefail
source=$1
n=0
while read -r function; do
  n=$((n + 1))
  grep -q "\b$function\b" "$source"/bindings/cpp/*.hpp || { echo "header.sh: no C++ header calls $function" >&2; exit 1; }
done < <(cc -E -x c "$source/api/asr_build.h" | grep -o '\basr_[a-z0-9_]* *(' | tr -d '( ' | sort -u)
((n > 50)) || { echo "header.sh: only $n functions were found" >&2; exit 1; }
echo "$n functions of the C ABI are in the C++ headers"
