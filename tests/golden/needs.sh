# SPDX-License-Identifier: Apache-2.0
# Read by scripts beside it, which are skipped where something that they need is missing.

# need_folders FOLDER...
need_folders() {
  local folder
  for folder; do
    [[ -d $folder ]] || { echo "skipped: $folder is missing; ./dev setup test installs it"; exit 77; }
  done
}

# find_server_python sets `found` to an interpreter that has what senone.serve imports.
find_server_python() {
  local python
  found=
  for python in ${SENONE_PYTHON:-python3 /usr/bin/python3}; do
    "$python" -c 'import numpy, aiohttp, prometheus_client' 2>/dev/null && { found=$(command -v "$python"); break; }
  done
  [[ -n $found ]] || { echo "skipped: python3 has no aiohttp or numpy; ./dev setup test installs them"; exit 77; }
}
