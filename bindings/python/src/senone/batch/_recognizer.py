# SPDX-License-Identifier: Apache-2.0
"""Recognises a batch's recordings with an engine and its streams. Workers of both kinds use it."""

from __future__ import annotations

import contextlib
import enum
import functools
import os
import threading
from typing import Any

import senone
from senone._audio import Recording
from senone._measure import measured_state

from ._common import Item, Record, Settings, as_text, failed_record, n_cores, printable

CPU_WINDOW, GPU_WINDOW = 32, 128  # frames per step; longer steps cost the host less, and latency does not matter here
GPU_JOBS = 256
MOST_LANES = 1024
MOST_UTTERANCE_S = 10_000_000  # of the library


class Fate(str, enum.Enum):
    """The fate of a result."""

    DONE = "done"
    AGAIN = "again"  # another attempt may succeed
    LOST = "lost"  # as AGAIN, and the engine must be reloaded


def _best_device() -> str:
    return next((found.id for found in senone.devices() if found.usable), "cpu")


def _rounded(value: float) -> float:
    return round(value, 6)  # microseconds are far below a frame


class Recognizer:
    """Loads the engine. Raises senone.Error if that fails. Any threads may recognise; n_jobs at a time use the device well."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        device = settings.device or os.environ.get("SENONE_DEVICE") or _best_device()
        on_cpu = device.partition(":")[0] == "cpu"
        self.n_jobs = settings.jobs or (settings.threads or n_cores() if on_cpu else GPU_JOBS)
        self.engine = senone.Engine(
            settings.model,
            settings.device,
            max_lanes=min(self.n_jobs, MOST_LANES),
            window_frames=CPU_WINDOW if on_cpu else GPU_WINDOW,
            n_threads=settings.threads,
            fallback=settings.fallback,
        )
        self.engine.stream(**settings.stream).close()  # refuses at once settings that no recording can have

    def recognize(self, item: Item) -> tuple[Record, Fate]:
        """Recognises a recording. Never raises for errors of the recording or the device."""
        try:
            return self._recognize(item), Fate.DONE
        except senone.DeviceLost as error:
            return failed_record(item, str(error)), Fate.LOST
        except (senone.IoFailure, senone.OutOfMemory, MemoryError) as error:
            return failed_record(item, str(error) or "out of memory"), Fate.AGAIN
        except senone.Error as error:
            return failed_record(item, str(error)), Fate.DONE
        except Exception as error:  # unexpected, of a reader; the batch must not wait for ever
            return failed_record(item, f"cannot be recognised: {type(error).__name__}: {error}"), Fate.DONE

    def _recognize(self, item: Item) -> Record:
        finals: list[senone.Event] = []
        ended = threading.Event()

        def receive(event: senone.Event) -> None:  # cheaper than taking each event in this thread
            if event.kind in (senone.EventKind.FINAL, senone.EventKind.ERROR):
                finals.append(event)
            if event.kind == senone.EventKind.END:
                ended.set()

        settings = self._settings
        with self._open(item) as recording:
            config: Any = {"rate": recording.rate, "input": "float", "max_utterance_s": MOST_UTTERANCE_S}
            n_samples = int(3600 * settings.max_hours * recording.rate)
            again = functools.partial(self._open, item)
            state = measured_state(self.engine, recording, again, {**settings.stream, **config}, n_samples)
            with contextlib.closing(self.engine.stream(callback=receive, **config, **self._settings.stream)) as stream:
                if state is not None:
                    stream.set_state(state)
                self._feed(stream, recording, item)
                self._check_length(recording)
                stream.finish()
                ended.wait()
        return self._record(item, recording, finals[-1])

    def _open(self, item: Item) -> Recording:
        settings = self._settings
        return Recording(
            item.path,
            settings.raw_rate,
            raw_format=settings.raw_format,
            raw_channels=settings.raw_channels,
            channel=settings.channel,
        )

    def _feed(self, stream: senone.Stream, recording: Recording, item: Item) -> None:
        n_left = int(3600 * self._settings.max_hours * recording.rate)
        for piece in recording:
            if len(piece) <= n_left:
                stream.feed(piece)
                n_left -= len(piece)
                continue
            stream.feed(piece[:n_left])
            hours = f"{self._settings.max_hours:g} hours of --max-hours"
            recording.warnings.append(f"{item.path}: is longer than the {hours}: the rest is left out; raise the limit")
            return

    def _record(self, item: Item, recording: Recording, final: senone.Event) -> Record:
        if final.error is not None:
            raise final.error
        audio_s = min(recording.audio_s, 3600 * self._settings.max_hours)
        record: Record = {"id": item.id, "file": as_text(item.path), "audio_s": _rounded(audio_s)}
        record.update(_alternative(final.alternatives[0]))
        record["reached_final"] = not final.flags & senone.Flag.NOT_FINAL_STATE
        record["beam_died"] = bool(final.flags & senone.Flag.BEAM_DIED)
        record["out_of_grammar"] = _rounded(final.out_of_grammar) if final.out_of_grammar >= 0 else None
        record["rejected"] = final.rejected
        record["lattice_beam"] = _rounded(final.lattice_beam) if final.lattice_beam is not None else None
        record["flags"] = [str(flag.name).lower() for flag in senone.Flag if flag in final.flags]
        if len(final.alternatives) > 1:
            record["others"] = [_alternative(other) for other in final.alternatives[1:]]
        warnings = [printable(message) for message in recording.warnings]
        if final.flags & senone.Flag.FELL_BACK:
            warnings.append(f"the device was lost; recognised on {self._settings.fallback} instead")
        if warnings:
            record["warnings"] = warnings
        return record

    def _check_length(self, recording: Recording) -> None:
        frame_ms = self.engine.info.frame_shift_ms
        if recording.audio_s < frame_ms / 1000:
            raise senone.BadAudio(f"less than a frame of {frame_ms:g} ms; check how it was recorded")


def _alternative(alternative: senone.Alternative) -> Record:
    words = []
    for word in alternative.words:
        words.append({"word": word.text, "start_s": _rounded(word.start_s), "end_s": _rounded(word.end_s)})
        if word.confidence >= 0:
            words[-1]["confidence"] = _rounded(word.confidence)
    return {
        "text": alternative.text,
        "graph_cost": alternative.graph_cost,
        "acoustic_cost": alternative.acoustic_cost,
        "words": words,
    }
