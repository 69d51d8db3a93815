# SPDX-License-Identifier: Apache-2.0
"""Loads numpy at its first use: recordings and 16-bit samples do not need it, arrays and lattices do."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def numpy(purpose: str) -> Any:
    """Returns the module. Raises ImportError saying that `purpose` needs it."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise ImportError(f"senone: {purpose} need the package numpy: pip install numpy") from None


def has_numpy() -> bool:
    """Returns True if numpy is installed."""
    return importlib.util.find_spec("numpy") is not None
