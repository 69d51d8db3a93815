# SPDX-License-Identifier: Apache-2.0
"""Types of arguments for the command lines of senone.batch and senone.serve."""

from __future__ import annotations

import argparse
from typing import Callable


def whole(least: int, most: int) -> Callable[[str], int]:
    """Returns a type for argparse: a whole number in these bounds."""

    def convert(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not within {least}..{most}")
        return value

    convert.__name__ = "whole number"
    return convert
