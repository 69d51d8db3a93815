# SPDX-License-Identifier: Apache-2.0
"""Prints what a microphone hears until Ctrl-C: python microphone.py BUNDLE. Needs sounddevice: pip install sounddevice"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import senone


def show(event: senone.Event) -> None:
    """Prints the words so far over the preceding line, and the final words at the end."""
    if event.kind == senone.EventKind.PARTIAL:
        print(f"\r... {event.text}", end="", flush=True)
    if event.kind == senone.EventKind.FINAL:
        print(f"\r{event.text}")
    if event.error is not None:
        print(f"\n{event.error}", file=sys.stderr)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sounddevice: Any = importlib.import_module("sounddevice")
    except (ImportError, OSError) as error:
        sys.exit(f"microphone: the package sounddevice cannot be used ({error}): pip install sounddevice")
    engine = senone.Engine(sys.argv[1])
    rate = int(engine.info.sample_rate_hz)
    with engine.stream(callback=show, cmn="live", partial_interval_ms=200) as stream:

        def heard(samples: Any, n_frames: int, time: Any, status: Any) -> None:
            stream.feed(samples[:, 0])

        with sounddevice.InputStream(samplerate=rate, channels=1, dtype="int16", callback=heard):
            print("listening; Ctrl-C ends")
            try:
                while True:
                    sounddevice.sleep(100)
            except KeyboardInterrupt:
                pass


if __name__ == "__main__":
    try:
        main()
    except senone.Error as error:
        sys.exit(f"microphone: {error}")
