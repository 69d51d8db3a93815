# SPDX-License-Identifier: Apache-2.0
"""Speech recognition with Senone.
    engine = senone.Engine("bundle")                  # a model and a graph on a device
    result = engine.recognize("recording.wav")        # or an array: engine.recognize(samples, rate=8000)
    print(result.text, result.words[0].start_s)
    with engine.stream(partial_interval_ms=500) as stream:
        stream.feed(samples)                          # int16 or float, as often as audio comes
        stream.finish()
        for event in stream:                          # or: async for event in stream
            print(event.kind.name, event.text)
    builder = senone.GrammarBuilder("bundle")         # grammars compiled in the process
    builder.add_lexicon("words.dict")
    engine.add_graph("menu", builder.phrases(["open the door", "close the door"]))
    alignment = senone.align("bundle", "words.dict", "recording.wav", "the words that are said")
Any thread may use anything. Calls into the library release the interpreter's lock. Failures are exceptions derived from
`senone.Error`, whose text is the library's message. Messages of the library go to ``logging.getLogger("senone")``.
"""

from ._align import AlignedPhone, AlignedWord, Aligner, Alignment, align
from ._audio import read_audio
from ._devices import Device, devices
from ._engine import Engine, EngineInfo, EngineMemory, EngineStats
from ._errors import (
    BadAudio,
    BadFile,
    Busy,
    Cancelled,
    DeviceLost,
    Error,
    InternalError,
    InvalidArgument,
    InvalidState,
    IoFailure,
    NoDevice,
    NotFound,
    OutOfMemory,
    Status,
    Timeout,
    Unsupported,
)
from ._events import Alternative, Event, EventKind, Flag, Lattice, Result, Word
from ._grammar import Grammar, GrammarBuilder
from ._library import version
from ._log import start_logging as _start_logging
from ._scores import Decoder
from ._speaker import Speaker
from ._stream import Stream, StreamStats

__version__ = version()

__all__ = [
    "AlignedPhone",
    "AlignedWord",
    "Aligner",
    "Alignment",
    "Alternative",
    "BadAudio",
    "BadFile",
    "Busy",
    "Cancelled",
    "Decoder",
    "Device",
    "DeviceLost",
    "Engine",
    "EngineInfo",
    "EngineMemory",
    "EngineStats",
    "Error",
    "Event",
    "EventKind",
    "Flag",
    "Grammar",
    "GrammarBuilder",
    "InternalError",
    "InvalidArgument",
    "InvalidState",
    "IoFailure",
    "Lattice",
    "NoDevice",
    "NotFound",
    "OutOfMemory",
    "Result",
    "Speaker",
    "Status",
    "Stream",
    "StreamStats",
    "Timeout",
    "Unsupported",
    "Word",
    "align",
    "devices",
    "read_audio",
    "version",
]

_start_logging()
