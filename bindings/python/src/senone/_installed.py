# SPDX-License-Identifier: Apache-2.0
"""Installed bundles, by the search path of the command (tools/installed_models.h; docs/bundle.md)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ._library import lib

_SUBDIRECTORY = Path("senone") / "models"


def model_directories() -> list[Path]:
    """Returns the directories that are searched, in order, whether they exist or not."""
    listed = os.environ.get("SENONE_MODEL_PATH")
    if listed:
        return [path for path in map(Path, listed.split(":")) if path.is_absolute()]
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    prefixes = [Path("/usr/local"), Path("/usr")]
    if Path(sys.prefix) not in prefixes:  # a virtual environment, where pip puts the bundles of senone-model-en-us
        prefixes.insert(0, Path(sys.prefix))
    if "/" in lib._name:
        folder = Path(os.path.realpath(lib._name)).parent
        prefixes = [folder.parent, folder.parent.parent, *prefixes]  # PREFIX/lib or PREFIX/lib/ARCHITECTURE
    directories = [Path(home), *(prefix / "share" for prefix in prefixes)]
    return list(dict.fromkeys(path / _SUBDIRECTORY for path in directories if path.is_absolute()))


def installed_models() -> dict[str, Path]:
    """Returns the paths of the installed bundles by name, in the order in which they are found."""
    found: dict[str, Path] = {}
    for directory in model_directories():
        try:
            paths = sorted(directory.iterdir())
        except OSError:
            continue
        for path in paths:
            if os.path.isfile(path / "senone.json"):  # Path.is_file raises for a directory that may not be searched
                found.setdefault(path.name, path)
    return found


def find_model(given: str) -> str:
    """Returns the path of a bundle: `given` itself if that is one or has a slash, else that of the installed one of this name, if
    there is one."""
    if "/" in given or os.path.isfile(os.path.join(given, "senone.json")):
        return given
    return str(installed_models().get(given, given))
