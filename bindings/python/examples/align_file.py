# SPDX-License-Identifier: Apache-2.0
"""Prints the times of the words of a recording whose text is known: python align_file.py BUNDLE DICTIONARY RECORDING TEXT"""

from __future__ import annotations

import sys

import senone


def main() -> None:
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    bundle, dictionary, recording, text = sys.argv[1:]
    for word in senone.align(bundle, dictionary, recording, text).words:
        phones = " ".join(phone.name for phone in word.phones)
        print(f"{word.start_s:7.2f} {word.end_s:7.2f}  {word.confidence:.2f}  {word.text}  ({phones})")


if __name__ == "__main__":
    try:
        main()
    except senone.Error as error:
        sys.exit(f"align_file: {error}")
