# SPDX-License-Identifier: Apache-2.0
"""Parses the command line of ``python -m senone.batch``. Settings shared with `senone recognize` have the same names."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any, NoReturn, Sequence

from senone._arguments import whole
from senone._decoder import FORMATS, MIX

from ._common import Settings, UsageFailure
from ._recognizer import MOST_LANES, MOST_UTTERANCE_S

RAW_FORMATS = [name for name in FORMATS if not name.startswith("file")]

DESCRIPTION = """\
Recognises archives of recordings on every device of this host, an engine each, or with --ray on a cluster.

Each recording becomes one result in the output, as soon as it is recognised; one that cannot be recognised has an "error"
there. The same command goes on where a run has ended, whatever ended it."""

EPILOG = """\
INPUT: recordings, folders (recordings in them and below), lists (.txt: lines `path [id]`), manifests (.jsonl: {"path": ...,
"id": ...}). Without an id, the path is the id. Exit status: 0; 1 if a recording or the run has failed; 2 for a command line
that makes no sense; 128 and more after a signal."""


@dataclass(frozen=True)
class Options:
    """The parsed command line."""

    inputs: list[str]
    lists: list[str]
    manifests: list[str]
    out: str
    in_order: bool
    retry_failed: bool
    retries: int
    devices: list[str]
    workers: int
    ray: str | None  # None: without Ray; "": the cluster running here, else a new one; else its address
    quiet: bool
    settings: Settings


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageFailure(f"{message}; python -m senone.batch --help")


def _hours(text: str) -> float:
    value = float(text)
    if not 0.001 <= value <= MOST_UTTERANCE_S / 3600:
        raise argparse.ArgumentTypeError(f"{text} is not within 0.001..{MOST_UTTERANCE_S / 3600:g}")
    return value


def _add_input_and_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what and where")
    group.add_argument(
        "inputs", nargs="*", metavar="INPUT", help="recordings, folders, lists (.txt), manifests (.jsonl)"
    )
    group.add_argument("--model", required=True, metavar="BUNDLE", help="what `senone import` and `senone graph` made")
    group.add_argument(
        "--out", "--output", required=True, metavar="FILE", help="FILE.jsonl: JSON lines; FOLDER.parquet: Parquet"
    )
    group.add_argument("--list", action="append", default=[], metavar="FILE", help="a list, whatever it is called")
    group.add_argument(
        "--manifest", action="append", default=[], metavar="FILE", help="a manifest, whatever it is called"
    )
    group.add_argument("--in-order", action="store_true", help="results in the order of the input, not as they come")
    group.add_argument("--resume", action="store_true", help="go on with an output that is there: what happens anyway")
    group.add_argument(
        "--retry-failed", action="store_true", help="errors in the output go; those recordings are tried again"
    )
    group.add_argument("--quiet", action="store_true", help="no progress line")


def _add_devices(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("devices")
    either = group.add_mutually_exclusive_group()
    either.add_argument("--device", metavar="D", help="one device: cpu, cuda:0, ... (see `senone devices`)")
    either.add_argument("--devices", metavar="D,D", help="several; default: all of the best back end")
    group.add_argument(
        "--workers", type=whole(1, 4096), metavar="N", help="processes with an engine; default: one a device"
    )
    group.add_argument(
        "--jobs", type=whole(1, MOST_LANES), metavar="N", help="recordings that a worker recognises at a time"
    )
    group.add_argument(
        "--threads", type=whole(1, 256), metavar="N", help="cores of a worker on the CPU; default: all, shared out"
    )
    group.add_argument("--fallback", choices=["cpu"], help="recognises what a lost device did not finish")
    group.add_argument(
        "--retries", type=whole(0, 100), default=2, metavar="N", help="new attempts after a worker died; default: 2"
    )
    group.add_argument(
        "--ray", action="store_true", help="workers are actors of Ray Data, each with a GPU or --threads cores"
    )
    group.add_argument(
        "--ray-address", metavar="ADDRESS", help="the cluster; default: RAY_ADDRESS, one that runs here, or a new one"
    )


def _add_recognition(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("recognition; defaults are those of `senone recognize`")
    group.add_argument("--beam", type=float, help="width of the search (natural log)")
    group.add_argument("--acoustic-scale", type=float, help="factor on log-likelihoods")
    group.add_argument("--word-insertion-cost", type=float, help="cost of every word")
    group.add_argument("--max-active", type=whole(0, 2**32 - 1), help="most tokens kept a frame")
    group.add_argument("--min-active", type=whole(0, 2**32 - 1), help="fewest tokens kept a frame")
    group.add_argument("--cmn", choices=["model", "live", "batch", "none"], help="cepstral mean normalisation")
    group.add_argument("--nbest", type=whole(1, 10000), help="most alternatives of a result")
    group.add_argument("--confidence", action="store_true", help="words have a confidence")
    group.add_argument(
        "--lattice-beam", type=float, help="width of lattices; default: 8 where something asked for needs one"
    )
    group.add_argument(
        "--raw-rate", type=whole(1000, 768000), default=16000, help="sample rate of .raw files (16 bits, mono)"
    )
    group.add_argument(
        "--raw-format",
        choices=RAW_FORMATS,
        help="all recordings are such samples without a header, whatever they look like",
    )
    group.add_argument(
        "--max-hours",
        type=_hours,
        default=24.0,
        metavar="H",
        help="longest recording; the rest of a longer one is left out, with a warning; default: 24",
    )
    group.add_argument(
        "--raw-channels", type=whole(1, 64), default=1, metavar="N", help="channels of the samples of --raw-format"
    )
    group.add_argument(
        "--channel", type=_channel, default=MIX, metavar="N|mix", help="channel to recognise, from 0; mix: the mean of all"
    )


def _channel(text: str) -> int:
    if text == "mix":
        return MIX
    if not text.isdecimal() or int(text) > 63:
        raise argparse.ArgumentTypeError(f"{text!r} is not mix, nor the number of a channel, 0 to 63")
    return int(text)


def _stream(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the given settings of the streams."""
    names = ("beam", "acoustic_scale", "word_insertion_cost", "max_active", "min_active", "cmn", "lattice_beam")
    stream = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.nbest is not None:
        stream["n_best"] = arguments.nbest
    if (arguments.confidence or (arguments.nbest or 1) > 1) and not stream.get("lattice_beam"):
        stream["lattice_beam"] = 8.0
    return stream


def parse(arguments: Sequence[str]) -> Options:
    """Parses the arguments. Raises UsageFailure; ends the process after --help."""
    parser = _Parser(
        prog="python -m senone.batch",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_input_and_output(parser)
    _add_devices(parser)
    _add_recognition(parser)
    found = parser.parse_intermixed_args(arguments)
    devices = [name for name in (found.devices or found.device or "").split(",") if name]
    ray = found.ray_address if found.ray_address or not found.ray else ""
    if ray is not None and len(devices) > 1:
        raise UsageFailure("--devices names devices of this host; with --ray, say how many actors by --workers N")
    if ray is not None and devices and devices[0].partition(":")[2] not in ("", "0"):
        raise UsageFailure(f"--device {devices[0]}: an actor of Ray has one GPU, its number 0; name the back end alone")
    settings = Settings(
        model=os.path.abspath(found.model),
        device=devices[0] if devices else None,
        fallback=found.fallback,
        jobs=found.jobs or 0,
        threads=found.threads or 0,
        raw_rate=found.raw_rate,
        raw_format=found.raw_format,
        raw_channels=found.raw_channels,
        channel=found.channel,
        max_hours=found.max_hours,
        stream=_stream(found),
    )
    return Options(
        inputs=found.inputs,
        lists=found.list,
        manifests=found.manifest,
        out=found.out,
        in_order=found.in_order,
        retry_failed=found.retry_failed,
        retries=found.retries,
        devices=devices,
        workers=found.workers or 0,
        ray=ray,
        quiet=found.quiet,
        settings=settings,
    )
