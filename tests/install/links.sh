#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# links.sh FOLDER checks that every relative link of the pages in FOLDER, which are Markdown, leads to a file in it, and to a
# heading of that page if it names one. It prints how many links there are.
set -euo pipefail
cd "$1"
export LC_ALL=C.UTF-8
failed=0 n=0

# headings PAGE prints the names by which links find the headings: lower case, without punctuation, with hyphens for blanks.
headings() {
  sed -E '/^```/,/^```/d; /^#+ /!d; s/^#+ //' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

while read -r page; do
  while read -r link; do
    [[ $link != *:* ]] || continue  # https: and the like
    n=$((n + 1))
    target=$page
    [[ -z ${link%%#*} ]] || target=$(realpath -m --relative-to=. "${page%/*}/${link%%#*}")
    if [[ $target == ../* || ! -e $target ]]; then
      echo "links.sh: $page: nothing is at $link" >&2
      failed=1
    elif [[ $link == *#* ]] && ! headings "$target" | grep -qxF -- "${link#*#}"; then
      echo "links.sh: $page: $target has no heading #${link#*#}" >&2
      failed=1
    fi
  done < <(sed -E '/^```/,/^```/d' "$page" | grep -oE '\]\([^) ]+|(src|href)="[^"]+' | sed -E 's/^(\]\(|(src|href)=")//' || true)
done < <(find . -name '*.md')
((n > 0)) || { echo "links.sh: no page in $1 has a link" >&2; exit 1; }
((failed)) || echo "$n links of the pages in $1 lead somewhere"
exit $failed
