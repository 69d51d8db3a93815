# SPDX-License-Identifier: Apache-2.0
"""Measures the mean of a recording of hours before it is recognised, so that the library keeps no cepstra for it. Used by
Engine.recognize and senone.batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping

from ._audio import Recording

if TYPE_CHECKING:
    from ._engine import Engine

MAX_HELD_S = 3600  # the cepstra of shorter recordings are kept: 19 MB for an hour
_SAME = ("vtln_warp", "speaker")  # settings that change the cepstra


def measured_state(
    engine: Engine,
    recording: Recording,
    open_again: Callable[[], Recording],
    config: Mapping[str, Any],
    n_samples: int | None = None,
) -> bytes | None:
    """Returns the state for `Stream.set_state` of a recording that is read twice; None for one that need not be.
    open_again: opens the recording anew. config: the settings of its stream. n_samples: most samples of it; None: all."""
    batch = engine.info.is_batch if config.get("cmn", "model") == "model" else config["cmn"] == "batch"
    if not batch or config.get("partial_interval_ms") or config.get("models"):
        return None
    if recording.max_length_s <= MAX_HELD_S:
        return None
    settings: dict[str, Any] = {name: config[name] for name in _SAME if name in config}
    settings.update(rate=recording.rate, input="float", cmn="measure", reject_threshold=-1.0)
    if "max_utterance_s" in config:
        settings["max_utterance_s"] = config["max_utterance_s"]
    if "speaker" in settings:
        settings["adaptation"] = "off"
    state: bytes | None = None
    for _ in range(engine.info.n_measurements):
        with open_again() as again, engine.stream(**settings) as stream:
            if state is not None:
                stream.set_state(state)
            n_left = n_samples
            for piece in again:
                stream.feed(piece if n_left is None else piece[:n_left])
                if n_left is not None:
                    n_left -= min(n_left, len(piece))
                    if n_left == 0:
                        break
            stream.result()
            state = stream.state()
            stream.close()
    return state
