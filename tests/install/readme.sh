#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# readme.sh SOURCE checks that the program in README.md is samples/hello.c, which other tests build and run.
set -euo pipefail
diff <(sed -n '/^```c$/,/^```$/{/^```/d;p}' "$1/README.md") "$1/samples/hello.c"
