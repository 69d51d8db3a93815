#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# limits.sh SOURCE checks that docs/limits.md has exactly the constants of core/base/limits.h, and that every one is used.
set -euo pipefail
cd "$1"
constants() { grep -oE '\bk(Max|Min|Base|Usual)[A-Z][A-Za-z]*' "$1" | sort -u; }
diff <(constants core/base/limits.h) <(constants docs/limits.md) || { echo "limits.sh: header (<) and table (>) differ" >&2; exit 1; }
failed=0
for constant in $(constants core/base/limits.h); do
  grep -rqw "$constant" --include='*.cc' --include='*.h' --exclude=limits.h core builder api tools && continue
  echo "limits.sh: nothing checks $constant" >&2
  failed=1
done
exit $failed
