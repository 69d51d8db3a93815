#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dev.sh SOURCE checks that ./dev refuses wrong arguments in one message, before it installs or builds anything.
set -euo pipefail
cd "$1"
fail() { echo "dev.sh: $*" >&2; exit 1; }

# refuses MESSAGE ARGUMENT...
refuses() {
  local message=$1 said status=0
  shift
  said=$(./dev "$@" 2>&1) || status=$?
  [[ $status == 1 && $said == "dev: "*"$message"* && $said != *$'\n'* ]] || fail "./dev $*: status $status, \"$said\""
}

refuses 'no command "frob"' frob
refuses 'no target "nosuch"; the targets are abi abi_build' fuzz nosuch
refuses 'no target "ar"' fuzz ar
refuses 'no option "--kep"' fuzz --kep arpa
refuses '"0" is no number of seconds' fuzz arpa 0
refuses '"12x" is no number of seconds' fuzz 12x
refuses 'no option "--moer"' test --moer
refuses 'no option "--gpus"' demo --gpus
refuses '"long" is no number of hours' soak long
refuses 'no option "--kep"' figures --kep
refuses 'wheel: no option "--arm"' wheel --arm
echo "wrong arguments are refused"
