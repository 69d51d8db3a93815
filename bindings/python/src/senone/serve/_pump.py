# SPDX-License-Identifier: Apache-2.0
"""Events of a stream to a client, while another task reads what the client sends."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Awaitable, Callable, Optional

from senone._events import Event

from ._service import Session

Deliver = Callable[[Event], Awaitable[None]]


class Pump:
    """Delivers the events of one stream after the other, each in a task of its own. What a delivery raises, `check` and `end`
    raise."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._task: Optional[asyncio.Task[None]] = None
        self._delivering = asyncio.Lock()

    def start(self, session: Session) -> None:
        """Delivers the events of a stream from now on."""
        self._task = asyncio.ensure_future(self._run(session))

    def check(self) -> None:
        """Raises what has ended the delivery."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def end(self) -> None:
        """Waits until the last event of a finished stream was delivered."""
        if self._task is not None:
            await self._task

    async def stop(self) -> None:
        """Delivers nothing more, but for the event that is being delivered."""
        task, self._task = self._task, None
        if task is not None:
            async with self._delivering:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task

    async def _run(self, session: Session) -> None:
        async for event in session.events():
            async with self._delivering:
                await self._deliver(event)
