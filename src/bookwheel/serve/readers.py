"""Processes that answer calls when there are many at once: Python's threads share one core.

Each reads the index through a library of its own, as another server would, and answers one call
after the other. It ends when its pipe does, however the server ended.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from collections.abc import Callable, Sequence
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from bookwheel.contracts.dispatch import Offered, call
from bookwheel.contracts.tool import INTERNAL_ERROR, Reply, RpcError
from bookwheel.contracts.work import Cancelled, Work
from bookwheel.library import Library
from bookwheel.query import EVERYTHING, Scope
from bookwheel.serve.toolsets import choose, load_contracts
from bookwheel.settings import Settings
from bookwheel.telemetry.logs import set_up_logs

log = logging.getLogger(__name__)


_GIVE_UP = signal.SIGUSR1
"""Tells a process that nobody waits for the answer it is at."""
_GONE_SECONDS = 1.0
"""A killed process is gone sooner, unless the machine is very busy."""


class Order(NamedTuple):
    """A call to make."""

    choice: str | None
    name: str
    arguments: dict[str, Any]
    remark: str
    scope: Scope = EVERYTHING
    """What the caller may see."""
    seconds: float | None = None
    """How long it may take."""
    written: bool = False
    """Whether the answer is wanted as it goes out; it then comes as nothing else."""


class Refused(NamedTuple):
    """An answer that is a JSON-RPC error, as it travels between processes."""

    code: int
    message: str
    data: dict[str, Any] | None


class OtherModel(NamedTuple):
    """What one of them says before its answer: another model answers under the name of ours."""


class Damage(NamedTuple):
    """What one of them says before its answer: the index is broken."""


class Readers:
    """Some processes, started when they are first needed; whoever finds none works himself."""

    def __init__(self, settings: Settings, folders: Sequence[str], count: int) -> None:
        self._settings = settings
        self._folders = list(folders)
        self._count = count
        self._living: list[_Reader] = []
        self._is_hopeless = False
        self._idle: asyncio.LifoQueue[_Reader] = asyncio.LifoQueue()
        self.on_other_model: Callable[[], None] = lambda: None
        self.on_damage: Callable[[], None] = lambda: None

    @property
    def are_ready(self) -> bool:
        """Whether there are any and all of them have opened the index."""
        return bool(self._living) and all(each.is_ready for each in self._living)

    def start(self) -> None:
        """Begin to start them, unless there are some, or they died before they could answer."""
        if not self._living and not self._is_hopeless:
            log.info("many calls at once: starting %s processes that answer", self._count)
            self._living = [_Reader(self._settings, self._folders) for _ in range(self._count)]
            for each in self._living:
                asyncio.get_running_loop().add_reader(each.pipe, self._hear, each)

    async def call(self, order: Order, *, patience: float | None = None) -> Reply | None:
        """Let one of them call a tool; None if it died of it or there are none any more.

        One that has not answered when the patience is over is ended: TimeoutError.
        """
        at_it: list[_Reader] = []
        try:
            async with asyncio.timeout(patience):
                return await self._call(order, at_it)
        except TimeoutError:
            for reader in at_it:
                self._drop(reader, "did not end its call in time")
            raise

    async def _call(self, order: Order, at_it: list[_Reader]) -> Reply | None:
        """Wait for one that has nothing to do and let it make a call; name it meanwhile."""
        reader = await self._idle.get()
        if reader not in self._living:
            if not self._living:
                self._idle.put_nowait(reader)  # all who wait for one must learn that there is none
            return None
        at_it.append(reader)
        answer = await reader.ask(order)
        if isinstance(answer, Refused):
            raise RpcError(*answer)
        return answer

    def _hear(self, reader: _Reader) -> None:
        """Take what one of them says; its first word is that it is ready."""
        try:
            answer = reader.pipe.recv()
        except (EOFError, OSError):
            self._is_hopeless = self._is_hopeless or not reader.is_ready
            self._drop(reader, "has died")
            return
        if isinstance(answer, OtherModel):
            self.on_other_model()
            return
        if isinstance(answer, Damage):
            self.on_damage()
            return
        reader.tell(answer)
        self._idle.put_nowait(reader)

    def _drop(self, reader: _Reader, why: str) -> None:
        """Do without one of them; the server works itself where there are none left."""
        if reader not in self._living:
            return
        log.warning("a process that answers %s", why)
        asyncio.get_running_loop().remove_reader(reader.pipe)
        self._living.remove(reader)
        reader.end()
        reader.tell(None)
        self._idle.put_nowait(reader)  # for whoever waits: he finds it dead

    def close(self) -> None:
        """End them, and wait until they are gone: who closes an index last merges its log."""
        for each in self._living:
            each.end()
        for each in self._living:
            each.wait()


class _Reader:
    """One process and the call that it is at."""

    def __init__(self, settings: Settings, folders: Sequence[str]) -> None:
        context = get_context("spawn")
        self.pipe, inner = context.Pipe()
        self.is_ready = False
        self._process = context.Process(target=_work, args=(inner, settings, folders), daemon=True)
        self._process.start()
        inner.close()
        self._asked: asyncio.Future[Reply | Refused | None] | None = None

    async def ask(self, order: Order) -> Reply | Refused | None:
        """Let it make a call; None if it dies. A call that is given up is ended unheard."""
        self._asked = asyncio.get_running_loop().create_future()
        try:
            self.pipe.send(order)
        except OSError:
            return None
        try:
            return await self._asked
        except asyncio.CancelledError:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """Tell it that nobody waits for its answer; it then gives an empty one."""
        if self._process.pid is not None and self._process.is_alive():
            os.kill(self._process.pid, _GIVE_UP)

    def tell(self, answer: Reply | Refused | None) -> None:
        """Give the answer to whoever waits for it."""
        self.is_ready = True
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(answer)
        self._asked = None

    def end(self) -> None:
        self.pipe.close()
        self._process.kill()  # it holds nothing that would have to be put in order

    def wait(self) -> None:
        self._process.join(_GONE_SECONDS)


# In the processes


def _work(pipe: Connection, settings: Settings, folders: Sequence[str]) -> None:
    # Vectors are compared by threads that cost more to wake than they save: each of us has a core.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    signal.signal(_GIVE_UP, signal.SIG_IGN)
    with Library.open(settings, folders) as library:
        set_up_logs(settings["log_format"], library.hide_in_logs)
        library.when_model_is_other(partial(pipe.send, OtherModel()))
        library.when_damaged(partial(pipe.send, Damage()))
        library.warm()
        gc.freeze()  # what is there now is there to stay: to go through it costs milliseconds
        try:
            pipe.send(None)
            while True:
                order: Order = pipe.recv()
                pipe.send(_answer(library, order))
        except (EOFError, OSError):
            return  # the server has gone


@cache
def _offered(choice: str | None, *, read_only: bool) -> Offered:
    return choose(load_contracts(read_only=read_only), choice)


def _answer(library: Library, order: Order) -> Reply | Refused:
    offered = _offered(order.choice, read_only=library.settings["read_only"])
    work = Work(library.view(order.scope), remark=order.remark, seconds=order.seconds)
    signal.signal(_GIVE_UP, lambda *_: work.cancel())
    try:
        reply = call(work, offered, order.name, order.arguments)
        if order.written:
            reply = reply._replace(text="", structured=None, written=reply.as_result())
        return reply
    except RpcError as error:
        return Refused(error.code, error.message, error.data)
    except Cancelled:
        return Refused(INTERNAL_ERROR, "Nobody waits for this.", None)
