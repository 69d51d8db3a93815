# SPDX-License-Identifier: Apache-2.0
"""``python -m senone.serve``: see ``--help``."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import resource
import signal
import sys
from typing import Any, Coroutine, Optional, Sequence

import senone

from ._options import Options, parse

_CLEANUP_S = 5.0
_MODULES = ("aiohttp", "prometheus_client")


async def serve(options: Options, ready: Optional[asyncio.Future[tuple[int, Optional[int]]]] = None) -> None:
    """Serves until SIGTERM or SIGINT. ready: gets the ports. Raises senone.DeviceLost when no engine has a device any more."""
    from aiohttp import web

    from ._door import Door
    from ._log import log
    from ._service import Service
    from ._web import Web
    from ._wyoming import Wyoming

    service = Service(options)
    door = Door(service)
    runner = web.AppRunner(Web(service, door).app, access_log=None, handle_signals=False)
    wyoming = Wyoming(service)
    ended = asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()

    async def stop() -> None:
        await service.stop()
        ended.set()

    def start(work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def listen() -> None:
        await service.start()
        await runner.setup()
        assert runner.server is not None
        port = await door.listen(runner.server, options)
        wyoming_port = None
        if options.wyoming_port is not None:
            wyoming_port = await wyoming.start(options.host, options.wyoming_port)
        log("listening", host=options.host, port=port, wyoming_port=wyoming_port, tls=options.tls is not None)
        if ready is not None:
            ready.set_result((port, wyoming_port))

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: start(stop()))
    loop.add_signal_handler(signal.SIGHUP, lambda: start(service.reload()))
    listening = asyncio.ensure_future(listen())
    stopped, lost = asyncio.ensure_future(ended.wait()), asyncio.ensure_future(service.lost.wait())
    try:
        await asyncio.wait({listening, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if listening.done():
            listening.result()
            await asyncio.wait({stopped, lost}, return_when=asyncio.FIRST_COMPLETED)
        if lost.done():
            await service.stop()
    finally:
        for task in (listening, stopped, lost):  # a bundle that is being loaded is not waited for here
            task.cancel()
        await asyncio.wait({listening, stopped, lost})
        await wyoming.stop()
        door.close()
        with contextlib.suppress(asyncio.TimeoutError):  # of what the client of a connection that has ended does not close
            await asyncio.wait_for(_end(runner), _CLEANUP_S)
        await service.close()
    log("stopped")
    if service.lost.is_set():
        raise senone.DeviceLost("no engine has its device any more; the log says why, and a new process may have them again")


async def _end(runner: Any) -> None:
    """Closes the connections of HTTP, whose sockets the runner did not open."""
    if runner.server is not None:
        await runner.server.shutdown(_CLEANUP_S)
    await runner.cleanup()


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the server; returns the exit status."""
    options = parse(arguments)
    missing = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    if missing:
        print(f"senone.serve: {' and '.join(missing)} missing: pip install 'senone[serve]'", file=sys.stderr)
        return 1
    from ._log import start_logging

    start_logging()
    _allow_files(3 * options.limits.connections + 256)
    try:
        asyncio.run(serve(options))
    except (senone.Error, ImportError, OSError) as error:
        print(f"senone.serve: {error}", file=sys.stderr)
        return 1
    return 0


def _allow_files(n: int) -> None:
    """Lets the process have n open files, or as many as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n if hard == resource.RLIM_INFINITY else min(n, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    sys.exit(main())
