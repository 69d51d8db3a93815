# SPDX-License-Identifier: Apache-2.0
"""Prints the words of a recording with their times and confidences: python recognize_file.py BUNDLE RECORDING [DEVICE]"""

from __future__ import annotations

import sys

import senone


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    engine = senone.Engine(sys.argv[1], device=sys.argv[3] if len(sys.argv) == 4 else None)
    result = engine.recognize(sys.argv[2])
    print(result.text)
    for word in result.words:
        print(f"{word.start_s:7.2f} {word.end_s:7.2f}  {word.confidence:.2f}  {word.text}")


if __name__ == "__main__":
    try:
        main()
    except senone.Error as error:
        sys.exit(f"recognize_file: {error}")
