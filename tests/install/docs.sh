#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh SOURCE checks the pages. Lines have at most 120 characters, but for tables and code. Links lead to files, and names
# of test cases are those of cases. Scripts that a page starts can be started. README.md stays under 150 lines. The messages of
# docs/messages.md are those of the source, but for what … stands for. Every option of
# the command but those of benchmarks, and every member of the C configurations, is on some page: an option that no page advises
# is one that nobody needs.
set -euo pipefail
cd "$1"
export LC_ALL=C.UTF-8
failed=0
wrong() { echo "docs.sh: $*" >&2; failed=1; }

(($(wc -l <README.md) < 150)) || wrong "README.md has 150 lines or more"
pages=(*.md docs/*.md docs/decisions/*.md bindings/python/README.md)
cases=$(sed -nE 's/^(TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+), *(\w+)\).*/\2.\3/p' tests/*/*.cc tests/*/*/*.cc)
suites=" $(sed 's/\..*//' <<<"$cases" | sort -u | tr '\n' ' ') "
for page in "${pages[@]}"; do
  long=$(sed -E '/^```/,/^```/d; /^(\||    )/d' "$page" | grep -E '^.{121,}' || true)
  [[ -z $long ]] || wrong "$page: lines of more than 120 characters:"$'\n'"$long"
  while read -r link; do
    [[ $link == http* || -e $(dirname "$page")/$link ]] || wrong "$page: nothing is at $link"
  done < <(grep -oE '\]\([^)# ]+' "$page" | cut -c3- || true)
  while read -r name; do
    [[ $suites != *" ${name%%.*} "* ]] || grep -qxF "$name" <<<"$cases" || wrong "$page: there is no test $name"
  done < <(grep -oE '`[A-Z]\w+\.[A-Z]\w+`' "$page" | tr -d '`' || true)
  while read -r script; do
    [[ -x $script ]] || wrong "$page: $script is no program, as it is missing or not executable"
  done < <(grep -oE '^    (bench|tests)/[a-z_0-9/]+\.(py|sh)' "$page" | sort -u || true)
done
advised() { grep -qE -- "(^|[^a-z0-9_-])$1([^a-z0-9_-]|\$)" "${pages[@]}"; }
while read -r option; do
  advised "$option" || wrong "no page mentions $option"
done < <(cat $(ls tools/*.cc | grep -v /bench) | grep -zoE '(option|flag)\(\s*"--[a-z0-9-]+"' | tr '\0' '\n' |
  grep -oE -- '--[a-z0-9-]+' | sort -u)
while read -r member; do
  advised "$member" || advised "--${member//_/-}" || wrong "no page mentions the member $member of a configuration"
done < <(cat api/asr.h api/asr_build.h | sed -z 's#/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/##g' |
  sed -nE '/^typedef struct (asr_\w*config|asr_fusion) \{/,/^\}/p' | grep -oE '\w+;' | tr -d ';' |
  grep -vE '^(size|reserved[0-9]*|asr_\w+)$' | sort -u)
# Strings that the source cuts into lines are joined first.
sources=$(cat $(git ls-files '*.cc' '*.h' '*.py' '*.cu' | grep -E '^(api|builder|core|plugins|tools|bindings)/') |
  sed -zE 's/"[[:space:]]*\n[[:space:]]*f?"//g')
while read -r part; do
  grep -qF -- "$part" <<<"$sources" || wrong "docs/messages.md: no message has: $part"
done < <(sed -nE 's/^\| `([^`]+)` \|.*/\1/p' docs/messages.md | sed 's/…/\n/g' | sed -E 's/^[ :;,]+//; s/[ ;:,]+$//' | grep -E '.{4}')
exit $failed
