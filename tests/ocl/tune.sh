#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tune.sh SENONE checks `senone bench gmm --tune` on the first device of ocl_amd (PoCL suffices). It must measure every
# alternative and keep its choice in the user's cache. With a damaged cache it must go on without it.
set -euo pipefail
senone=$1
export SENONE_PLUGINS=cpu,ocl_amd # named, so that OpenCL is loaded without a GPU, too
"$senone" devices | grep -q '^ocl_amd:0' || { echo "skipped: no OpenCL device"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
bench() { "$senone" bench gmm --device ocl_amd --states 64 --gaussians 4 --frames 16 --window 8 --repeats 1 --no-openblas "$@" 2>&1; }
fail() { echo "$1"; exit 1; }

bench >/dev/null
before=$(ls "$work/senone" | wc -l)
report=$(bench --tune)
n=$(grep -c 'lanes in' <<<"$report")
((n > 2)) || fail "no ways were measured: $report"
grep -q 'chosen: ' <<<"$report" || fail "nothing was chosen: $report"
(($(ls "$work/senone" | wc -l) > before)) || fail "nothing was kept in $work/senone"
for file in "$work"/senone/*; do truncate -s -1 "$file"; done
bench >/dev/null || fail "a damaged cache is in the way"
echo "$report"
