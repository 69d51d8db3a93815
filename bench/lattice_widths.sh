#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lattice_widths.sh SENONE N ARGUMENT... runs `SENONE recognize ARGUMENT...`, which must have N utterances, with lattice beams
# from 4 to 24. A wider beam must never yield less than a narrower one, except for half a unit, nor lose alternatives. Prints
# what does, and last how many lattices were narrowed. Environment variables:
#   DEVICE                 device to recognise on, default cpu
#   BEAMS                  lattice beams, from narrow to wide
#   SENONE_LATTICE_LIMITS  divisor of the limits of lattices, such as 16 or 64, so that more lattices are narrowed. A build with
#                          tests reads it
set -euo pipefail
senone=$1 n=$2
shift 2
read -ra beams <<<"${BEAMS:-4 6 8 10 12 14 15 16 17 18 20 24}"

# widths BEAM prints lines of an utterance, the beam, the width reached and the number of alternatives.
widths() {
  "$senone" recognize --quiet --device "${DEVICE:-cpu}" --nbest 10 --json --lattice-beam "$1" "${@:2}" 2>/dev/null |
    awk -v beam="$1" '
      match($0, /"lattice_beam":[0-9.]*/) {
        width = substr($0, RSTART + 15, RLENGTH - 15)
        match($0, /"id":"[^"]*"/); id = substr($0, RSTART + 6, RLENGTH - 7)
        print id, beam, width, gsub(/"graph_cost":/, "")
      }'
}

for beam in "${beams[@]}"; do widths "$beam" "$@"; done | sort -k 1,1 -k 2,2n | awk -v n=$((n * ${#beams[@]})) '
  $1 != id { id = $1; ++n_ids; widest = 0; alternatives = 0 }
  $3 < widest - 0.5 || $3 > $2 { print id ": asked for " $2 ", got " $3 " after " widest; bad = 1 }
  $4 < alternatives { print id ": " $4 " alternatives with beam " $2 " after " alternatives; bad = 1 }
  $3 > widest { widest = $3 }
  $4 > alternatives { alternatives = $4 }
  $3 < $2 { ++narrowed }
  { ++total }
  END {
    printf "%d recordings, %d lattices, %d of them narrowed\n", n_ids, total, narrowed
    exit bad || total != n
  }'
