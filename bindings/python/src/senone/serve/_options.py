# SPDX-License-Identifier: Apache-2.0
"""Parses the command line of ``python -m senone.serve`` and refuses addresses that everybody reaches without protection."""

from __future__ import annotations

import argparse
import ipaddress
import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Sequence

from senone._arguments import whole
from senone._installed import find_model, installed_models

DESCRIPTION = """\
Recognises speech for other programs: Vosk's WebSocket protocol, jambonz' and Asterisk's, files by HTTP, and Wyoming.

BUNDLE is a directory of `senone import` and `senone graph`, or the name of an installed one; NAME=BUNDLE gives it a name
for clients, which otherwise is that of the directory. The first is the default."""

EPILOG = """\
Signals: SIGTERM and SIGINT end the process once its streams have ended, and at once the second time; SIGHUP loads the
bundles again, for streams that begin later. Other addresses than 127.0.0.1 need --token-file, --cert and --key, unless
--insecure says that something else protects them."""


@dataclass(frozen=True)
class Limits:
    """What one client, and all of them together, may take.
    connections: at once, over all protocols. message_bytes: of a WebSocket message or a Wyoming event. file_bytes: of a
    recording by HTTP. audio_s: of a recording, or of one connection. idle_s: without a message. lag_s: for which a client may
    leave what was sent to it unread. grace_s: for which streams may go on after SIGTERM. phrases: of one client's grammar.
    """

    connections: int = 500
    message_bytes: int = 1 << 20
    file_bytes: int = 64 << 20
    audio_s: float = 4 * 3600.0
    idle_s: float = 60.0
    lag_s: float = 10.0
    grace_s: float = 30.0
    phrases: int = 2000


@dataclass(frozen=True)
class Bundle:
    """A bundle to serve. lexicon, g2p: for the grammars of clients; None: these are refused. language: as clients name it."""

    name: str
    path: str
    lexicon: str | None = None
    g2p: str | None = None
    language: str = "en"


@dataclass(frozen=True)
class Options:
    """The parsed command line. wyoming_port: None: Wyoming is off. token: None: everybody may."""

    bundles: list[Bundle]
    devices: list[str | None] = field(default_factory=lambda: [None])
    fallback: str | None = None
    lanes: int = 8
    threads: int = 0
    partial_ms: int = 300
    host: str = "127.0.0.1"
    port: int = 2700
    wyoming_port: int | None = None
    token: str | None = None
    tls: ssl.SSLContext | None = None
    origins: frozenset[str] = frozenset()
    libsndfile: bool = False
    limits: Limits = Limits()


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Parses the arguments; ends the process with a message and status 2 if they make no sense."""
    parser = _parser()
    found = parser.parse_args(arguments)
    try:
        bundles = _bundles(found)
        token = _token(found.token_file)
        tls = _tls(found.cert, found.key)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        parser.error(str(error))
    if not found.insecure and not is_loopback(found.host):
        if token is None or tls is None:
            parser.error(
                f"--host {found.host}: other machines reach this address, so --token-file, --cert and --key are needed; "
                "--insecure says that something else protects it"
            )
        if found.wyoming_port is not None:
            parser.error(
                f"--host {found.host}: Wyoming knows neither tokens nor TLS; leave out --wyoming-port, or say --insecure "
                "if something else protects it"
            )
    return Options(
        bundles=bundles,
        devices=list(found.devices) or [None],
        fallback=found.fallback,
        lanes=found.lanes,
        threads=found.threads,
        partial_ms=found.partial_ms,
        host=found.host,
        port=found.port,
        wyoming_port=found.wyoming_port,
        token=token,
        tls=tls,
        origins=frozenset(found.origin),
        libsndfile=found.libsndfile,
        limits=Limits(
            connections=found.connections,
            message_bytes=found.message_kb << 10,
            file_bytes=found.file_mb << 20,
            audio_s=found.audio_hours * 3600,
            idle_s=found.idle_s,
            lag_s=found.lag_s,
            grace_s=found.grace_s,
            phrases=found.phrases,
        ),
    )


def is_loopback(host: str) -> bool:
    """Returns True if only this machine reaches the address. A name other than localhost may become any address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m senone.serve",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    limits = Limits()
    parser.add_argument(
        "bundles", nargs="*", metavar="[NAME=]BUNDLE", help="what to recognise with; default: all installed bundles"
    )
    models = parser.add_argument_group("models; [NAME=] chooses a bundle, and without it all have the value")
    models.add_argument(
        "--lexicon",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="dictionary for grammars that clients send; default: BUNDLE/lexicon.dict, if there is one",
    )
    models.add_argument(
        "--g2p", action="append", default=[], metavar="[NAME=]FILE", help="pronounces the words that the dictionary lacks"
    )
    models.add_argument(
        "--language", action="append", default=[], metavar="[NAME=]TAG", help="language, as clients name it; default: en"
    )
    models.add_argument("--devices", type=_devices, default=[], metavar="D,D", help="an engine on each, as `senone devices` lists them; default: the best")
    models.add_argument("--fallback", choices=["cpu"], help="goes on with the streams of a lost device")
    models.add_argument(
        "--lanes", type=whole(1, 1024), default=8, metavar="N", help="streams that a step advances together; default: 8"
    )
    models.add_argument("--threads", type=whole(0, 256), default=0, metavar="N", help="of the CPU; default: one a core")
    models.add_argument(
        "--partial-ms", type=whole(50, 60000), default=300, metavar="MS", help="audio between partial words; default: 300"
    )
    where = parser.add_argument_group("where and who")
    where.add_argument("--host", default="127.0.0.1", help="address to listen on; default: 127.0.0.1")
    where.add_argument("--port", type=whole(0, 65535), default=2700, help="HTTP and WebSocket; default: 2700; 0: a free one")
    where.add_argument("--wyoming-port", type=whole(0, 65535), metavar="PORT", help="Wyoming, usually 10300; default: off")
    where.add_argument("--token-file", metavar="FILE", help="its first line is the token that clients must send")
    where.add_argument("--cert", metavar="FILE", help="certificate chain, PEM, for TLS")
    where.add_argument("--key", metavar="FILE", help="private key of --cert, PEM")
    where.add_argument("--insecure", action="store_true", help="allow other addresses without token and TLS")
    where.add_argument(
        "--origin", action="append", default=[], metavar="URL", help="also serve the pages of this origin, https://example.org"
    )
    where.add_argument(
        "--libsndfile", action="store_true", help="decode FLAC, Ogg and MP3 of clients with libsndfile, not WAV and AU alone"
    )
    group = parser.add_argument_group("limits")
    group.add_argument("--connections", type=whole(1, 100000), default=limits.connections, help="default: %(default)s")
    group.add_argument(
        "--message-kb", type=whole(1, 65536), default=limits.message_bytes >> 10, metavar="KB", help="default: %(default)s"
    )
    group.add_argument(
        "--file-mb", type=whole(1, 4096), default=limits.file_bytes >> 20, metavar="MB", help="default: %(default)s"
    )
    group.add_argument(
        "--audio-hours",
        type=_real(0.001, 1000),
        default=limits.audio_s / 3600,
        metavar="H",
        help="of a file or a connection; default: %(default)g",
    )
    group.add_argument(
        "--idle-s", type=_real(0.1, 86400), default=limits.idle_s, metavar="S", help="without a message; default: %(default)g"
    )
    group.add_argument(
        "--lag-s", type=_real(0.1, 86400), default=limits.lag_s, metavar="S", help="of unread replies; default: %(default)g"
    )
    group.add_argument(
        "--grace-s", type=_real(0, 86400), default=limits.grace_s, metavar="S", help="after SIGTERM; default: %(default)g"
    )
    group.add_argument(
        "--phrases", type=whole(1, 1000000), default=limits.phrases, metavar="N", help="of a grammar; default: %(default)s"
    )
    return parser


def _real(least: float, most: float) -> Callable[[str], float]:
    def convert(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not within {least:g}..{most:g}")
        return value

    convert.__name__ = "number"
    return convert


def _bundles(found: argparse.Namespace) -> list[Bundle]:
    named: dict[str, str] = {}
    for argument in found.bundles:
        name, path = _named(argument)
        name = name or Path(os.path.abspath(path)).name
        if name in named:
            raise ValueError(f"two bundles have the name {name}; give one another: NAME={path}")
        named[name] = find_model(path)
    if not named:
        named = {name: str(path) for name, path in installed_models().items() if os.path.isfile(path / "graph.bin")}
    if not named:
        raise ValueError("name a bundle; none is installed")
    of = {option: _by_name(option, getattr(found, option), named) for option in ("lexicon", "g2p", "language")}
    return [
        Bundle(name, path, of["lexicon"].get(name) or _lexicon(path), of["g2p"].get(name), of["language"].get(name) or "en")
        for name, path in named.items()
    ]


def _lexicon(path: str) -> str | None:
    """Returns the dictionary that lies in a bundle, as for libvosk."""
    lexicon = os.path.join(path, "lexicon.dict")
    return lexicon if os.path.isfile(lexicon) else None


def _devices(text: str) -> list[str]:
    names = text.split(",") if text else []
    if not all(names):
        raise argparse.ArgumentTypeError(f"a device of {text!r} has no name")
    return names


def _named(argument: str) -> tuple[str, str]:
    """Splits NAME=VALUE. A path with an equals sign in a later part, or that exists as it is, has no name."""
    name, equals, value = argument.partition("=")
    return ("", argument) if not equals or "/" in name or os.path.exists(argument) else (name, value)


def _by_name(option: str, values: list[str], named: dict[str, str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for argument in values:
        name, value = _named(argument)
        if name and name not in named:
            raise ValueError(f"--{option} {argument}: no bundle has the name {name}; there are {', '.join(named)}")
        for each in [name] if name else [each for each in named if each not in chosen]:
            chosen[each] = value
    return chosen


def _token(path: str | None) -> str | None:
    if path is None:
        return None
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    token = lines[0].strip() if lines else ""
    if len(token) < 16:
        raise ValueError(f"{path}: the token has fewer than 16 characters; `openssl rand -hex 32` makes one")
    return token


def _tls(cert: str | None, key: str | None) -> ssl.SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise ValueError("--cert and --key belong together")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(cert, key)
    except OSError as error:
        raise ValueError(f"--cert {cert}, --key {key}: {error.strerror or error}") from None
    return context
