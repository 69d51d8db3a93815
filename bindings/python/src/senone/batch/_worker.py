# SPDX-License-Identifier: Apache-2.0
"""A worker process of _local.py: ``python -m senone.batch._worker``, an engine and its streams.
Standard input: its settings as a JSON object, then lines [number, id, path]. Standard output: {"ready": name of the device,
"jobs": n} or {"failed": message}, then {"number", "fate", "record"} lines in the order of completion. The worker ends with its
input and ignores signals of the terminal: the batch ends it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from queue import SimpleQueue
from typing import IO, Any, Optional

import senone

from ._common import Item, Settings
from ._recognizer import Fate, Recognizer

DEVICE_LOST = 3  # exit status


class _Answers:
    """Writes complete lines, from any thread, to the original standard output; prints of a driver go to stderr."""

    def __init__(self) -> None:
        self._file: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def send(self, **answer: Any) -> None:
        """Writes a line. Ends the process if the batch is gone, which was killed."""
        line = json.dumps(answer) + "\n"
        with self._lock:
            try:
                self._file.write(line)
                self._file.flush()
            except BrokenPipeError:
                os._exit(0)


def _work(recognizer: Recognizer, items: SimpleQueue[Optional[Item]], answers: _Answers) -> None:
    """Runs a thread: recognises recordings up to a None."""
    while (item := items.get()) is not None:
        record, fate = recognizer.recognize(item)
        answers.send(number=item.number, fate=fate.value, record=record)
        if fate == Fate.LOST:  # the batch starts another worker; the answer is already sent
            os._exit(DEVICE_LOST)


def main() -> None:
    """Never returns normally during recognition: the end of the input means that no further results are wanted."""
    answers = _Answers()
    told = sys.stdin.readline()
    if not told.endswith("\n"):  # the batch was killed while it wrote them
        return
    settings = Settings(**json.loads(told))
    try:
        recognizer = Recognizer(settings)
    except senone.Error as error:
        answers.send(failed=str(error))
        return
    info = recognizer.engine.info
    items: SimpleQueue[Optional[Item]] = SimpleQueue()
    for _ in range(recognizer.n_jobs):
        threading.Thread(target=_work, args=(recognizer, items, answers), daemon=True).start()
    answers.send(ready=f"{info.device_id} ({info.device_name})", jobs=recognizer.n_jobs)
    for line in sys.stdin:
        items.put(Item(*json.loads(line)))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
