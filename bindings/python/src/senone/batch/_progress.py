# SPDX-License-Identifier: Apache-2.0
"""Shows the batch's progress on stderr: a line redrawn on a terminal, elsewhere one per minute; and a summary at its end."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter

from ._common import Record, printable

REDRAWN_S = 0.2
LOGGED_S = 60


def clock_time(seconds: float) -> str:
    """Formats a duration like 1:23:45."""
    minutes, s = divmod(int(max(seconds, 0)), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"


class Progress:
    """Counts results as they come."""

    def __init__(self, n_recordings: int, quiet: bool) -> None:
        self.n_done = 0
        self.n_failed = 0
        self.audio_s = 0.0
        self._n_recordings = n_recordings
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._n_on: Counter[str] = Counter()
        self._audio_s_on: Counter[str] = Counter()
        self._shown = False
        self._begin_s = self._drawn_s = time.monotonic()

    def begin(self) -> None:
        """Starts the clock once the workers are ready."""
        self._begin_s = self._drawn_s = time.monotonic()

    def add(self, record: Record, worker: str) -> None:
        """Counts a result of `worker`."""
        self.n_done += 1
        self.n_failed += "error" in record
        audio_s = record.get("audio_s", 0.0)
        self.audio_s += audio_s
        self._n_on[worker] += 1
        self._audio_s_on[worker] += audio_s
        self.show()

    def show(self) -> None:
        """Draws the line when it is due."""
        now = time.monotonic()
        if self._quiet or now - self._drawn_s < (REDRAWN_S if self._terminal else LOGGED_S):
            return
        self._drawn_s = now
        if self._terminal:
            sys.stderr.write("\r\033[K" + self._line(now - self._begin_s)[: shutil.get_terminal_size().columns - 1])
        else:
            sys.stderr.write(f"senone.batch: {self._line(now - self._begin_s)}\n")
        sys.stderr.flush()
        self._shown = True

    def say(self, message: str) -> None:
        """Prints a message on a separate line."""
        self.hide()
        print(f"senone.batch: {printable(message)}", file=sys.stderr, flush=True)

    def hide(self) -> None:
        """Erases the line."""
        if self._shown and self._terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        self._shown = False

    def summary(self) -> str:
        """Returns the summary, in a few lines."""
        seconds = time.monotonic() - self._begin_s
        lines = [
            f"{self.n_done} recordings, {self.audio_s:.1f} s of audio in {seconds:.2f} s, "
            f"{self.audio_s / max(seconds, 1e-9):.1f} times real time"
        ]
        for worker, n in sorted(self._n_on.items()):
            lines.append(f"{worker}: {n} recordings, {self._audio_s_on[worker]:.1f} s of audio")
        return "\n".join(lines)

    def _line(self, seconds: float) -> str:
        share = self.n_done / self._n_recordings if self._n_recordings else 1.0
        parts = [f"{self.n_done} of {self._n_recordings} recordings"]
        if self.n_failed:
            parts.append(f"{self.n_failed} failed")
        parts.append(f"{clock_time(self.audio_s)} of audio")
        if seconds > 0:
            parts.append(f"{self.audio_s / seconds:.1f} x real time")
        left = f", {clock_time(seconds * (1 - share) / share)} left" if share > 0 else ""
        return f"recognising {int(100 * share):3} %  {', '.join(parts)}  ({clock_time(seconds)}{left})"
