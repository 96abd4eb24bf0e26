"""Where rows come from: a server, this process, or either.

Everything is written once, as coroutines. A blocking client drives them with
``run`` over a transport that blocks and never suspends; the asyncio client
awaits them.
"""

from __future__ import annotations

import random
import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import (Any, AsyncGenerator, Awaitable, Callable, Coroutine, NamedTuple, Optional,
                    Protocol, TypeVar)

import numpy as np

from phasor_tables import _wire
from phasor_tables._elements import Array, bytes_of, dtype_of, empty
from phasor_tables._library import CheckedSpec, Kernel, version
from phasor_tables._wire import Failure, decode_rows
from phasor_tables.errors import (DataLoss, DeadlineExceeded, FailedPrecondition, PhasorError,
                                  NotFound, ResourceExhausted, Unavailable, field_error)
from phasor_tables.specs import LearnedTable, Spec

T = TypeVar("T")

# A range this small is one unary call.
_MAX_UNARY_BYTES = 1 << 19
# Below this any server takes the message; its limit is not asked for.
_ALWAYS_FITS = 1 << 18
# What a message holds beside rows, positions and spec: less than this.
_HEAD_BYTES = 1024
_MAX_MESSAGE_BYTES = 64 << 20
_POSITION_BYTES = 10


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("a blocking call was suspended")


class Limits(NamedTuple):
    """Bounds of one call of a method."""

    deadline: float
    """Of ``time.monotonic()``."""
    retry: bool = True


@dataclass
class Counters:
    """What a client did so far; numbers only grow."""

    rpcs: int = 0
    """Calls to the server, retries included."""
    retries: int = 0
    """Of those, the repeated ones."""
    local_fallbacks: int = 0
    """Calls computed here because no server answered."""
    block_hits: int = 0
    """Times that rows were found in blocks in memory."""
    block_misses: int = 0
    """Blocks of rows that had to be made or fetched."""


@dataclass(frozen=True)
class ServerInfo:
    """A server's version and limits; of a client without one, this library's."""

    version: str
    numerics_version: int
    max_message_bytes: int
    max_chunk_bytes: int
    cache_bytes: int
    cached_bytes: int
    max_width: int
    settled_elements: int = 0
    """So far, of which fast arithmetic left the rounding open: about a microsecond each."""
    costly_elements: int = 0
    """Of those, the ones that took arbitrary precision, tens of microseconds each."""


class TableKey:
    """A table as connections know it: its spec, its requests, its kernel."""

    def __init__(self, spec: Spec) -> None:
        self.spec = CheckedSpec(spec)
        self.dtype = dtype_of(self.spec.element_type)
        self.computed = not isinstance(spec, LearnedTable)
        """Whether this process can make its rows as well as a server."""
        self.metadata = (("x-phasor-table", self.spec.fingerprint),)
        self._heads: dict[str, bytes] = {}
        self._kernel: Optional[Kernel] = None

    @property
    def kernel(self) -> Kernel:
        """What computes the table here; opened when first used."""
        if self._kernel is None:
            self._kernel = Kernel(self.spec)
        return self._kernel

    def request(self, method: str, **fields: Any) -> bytes:
        """A request about this table, spec and fingerprint included."""
        kind = _wire.message(method + "Request")
        head = self._heads.get(method)
        if head is None:
            head = kind(spec=_wire.spec_message(self.spec.text),
                        expected_fingerprint=self.spec.fingerprint).SerializeToString()
            self._heads[method] = head
        # Messages put one after the other are one message.
        return head + kind(**fields).SerializeToString()  # type: ignore[no-any-return]


class Started(Protocol):
    """A unary call under way, whose result any number may wait for."""

    async def result(self) -> bytes:
        """The response; raises Failure."""
        ...

    def done(self) -> bool:
        """Whether it has ended."""
        ...


class Transport(Protocol):
    """How calls reach a server. All raise Failure."""

    async def unary(self, method: str, request: bytes, timeout: float, metadata: Any) -> bytes:
        """One response."""
        ...

    def stream(self, method: str, request: bytes, timeout: float,
               metadata: Any) -> AsyncGenerator[bytes, None]:
        """Responses, one by one."""
        ...

    def start(self, method: str, request: bytes, timeout: float, metadata: Any,
              done: Callable[[Optional[bytes]], None]) -> Started:
        """Begins a unary call; `done` gets the response, or None, on any thread."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        ...

    async def compute(self, work: Callable[[], T]) -> T:
        """Does what takes a while in this process."""
        ...


class Connection(Protocol):
    """What tables are read through."""

    async def resolve(self, table: LearnedTable, limits: Limits) -> LearnedTable: ...

    async def open(self, table: TableKey, limits: Limits) -> None: ...

    async def read(self, table: TableKey, start: int, count: int, out: Optional[Array],
                   limits: Limits, begun: Optional[Started] = None) -> Array: ...

    def begin(self, table: TableKey, start: int, count: int, limits: Limits,
              done: Callable[[Optional[Array]], None]) -> Optional[Started]: ...

    async def gather(self, table: TableKey, positions: Array, axes: int, out: Optional[Array],
                     limits: Limits) -> Array: ...

    async def shift(self, table: TableKey, rows: Array, by: int | float, out: Array,
                    limits: Limits) -> None: ...

    async def frequencies(self, table: TableKey, limits: Limits) -> Array: ...

    async def server_info(self, limits: Limits) -> ServerInfo: ...


class LocalConnection:
    """Computes in this process."""

    def __init__(self, transport: Transport) -> None:
        self._compute = transport.compute

    async def resolve(self, table: LearnedTable, limits: Limits) -> LearnedTable:
        raise field_error(NotFound, "spec.learned_table.name",
                          f"{table.name!r} is in a checkpoint that a server loads, and cannot be "
                          "computed here; ask a server")

    async def open(self, table: TableKey, limits: Limits) -> None:
        if isinstance(table.spec.source, LearnedTable):
            await self.resolve(table.spec.source, limits)

    async def read(self, table: TableKey, start: int, count: int, out: Optional[Array],
                   limits: Limits, begun: Optional[Started] = None) -> Array:
        result = _empty(table, count) if out is None else out
        await self._compute(lambda: table.kernel.read(start, count, result))
        return result

    def begin(self, table: TableKey, start: int, count: int, limits: Limits,
              done: Callable[[Optional[Array]], None]) -> Optional[Started]:
        return None  # made when wanted, in less time than a call takes

    async def gather(self, table: TableKey, positions: Array, axes: int, out: Optional[Array],
                     limits: Limits) -> Array:
        result = _empty(table, positions.size // axes) if out is None else out
        await self._compute(lambda: table.kernel.gather(positions, axes, result))
        return result

    async def shift(self, table: TableKey, rows: Array, by: int | float, out: Array,
                    limits: Limits) -> None:
        try:
            await self._compute(lambda: table.spec.shift(rows, by, out))
        except PhasorError as error:
            if error.field != "rows":
                raise
            violation = error.violations[0]._replace(field="data")  # the protocol's name for it
            raise type(error)("data: " + violation.description, [violation]) from None

    async def frequencies(self, table: TableKey, limits: Limits) -> Array:
        return table.spec.frequencies()

    async def server_info(self, limits: Limits) -> ServerInfo:
        return ServerInfo(version(), 1, 0, 0, 0, 0, 65536)


class GrpcConnection:
    """Asks a server."""

    def __init__(self, transport: Transport, counters: Counters, backoff: tuple[float, float]):
        self._transport = transport
        self._counters = counters
        self._backoff = backoff
        self._max_message_bytes = 0

    async def _retry(self, limits: Limits, attempt: Callable[[float], Awaitable[T]]) -> T:
        """Calls ``attempt`` with the seconds left until it is anything but UNAVAILABLE."""
        unavailable: Optional[Failure] = None
        tries = 0
        while True:
            try:
                return await attempt(max(limits.deadline - time.monotonic(), 0.001))
            except Failure as failure:
                progress = failure.progress
                # Says why no server was reached; that the time ended meanwhile does not.
                if (failure.code == DeadlineExceeded.code and unavailable is not None
                        and not progress):
                    raise unavailable.error() from None
                if failure.code != Unavailable.code or not limits.retry:
                    raise failure.error() from None
                tries = 0 if progress else tries
                asked = failure.pushback or 0.0
                wait = max(asked, self._wait(tries))
                if asked < 0 or time.monotonic() + wait >= limits.deadline:
                    raise failure.error() from None
                unavailable = None if progress else failure
            tries += 1
            await self._transport.sleep(wait)
            self._counters.retries += 1

    def _wait(self, tries: int) -> float:
        first, most = self._backoff
        return min(first * 2.0 ** min(tries, 60), most) * random.uniform(0.5, 1.0)

    async def _ask(self, method: str, request: bytes, metadata: Any, limits: Limits) -> bytes:
        return await self._retry(limits, lambda timeout: self._unary(method, request, timeout,
                                                                     metadata))

    async def _unary(self, method: str, request: bytes, timeout: float, metadata: Any) -> bytes:
        self._counters.rpcs += 1
        return await self._transport.unary(method, request, timeout, metadata)

    async def resolve(self, table: LearnedTable, limits: Limits) -> LearnedTable:
        request = _wire.message("GetTableRequest")(spec=_wire.name_message(table))
        data = await self._ask("GetTable", request.SerializeToString(), (), limits)
        response = _parse("GetTableResponse", data)
        found = _wire.learned_table_of(table, response)
        spec = CheckedSpec(found)
        _wire.check_same_table(spec, _wire.spec_message(spec.text), response)
        return found

    async def open(self, table: TableKey, limits: Limits) -> None:
        data = await self._ask("GetTable", table.request("GetTable"), table.metadata, limits)
        response = _parse("GetTableResponse", data)
        _wire.check_same_table(table.spec, _wire.spec_message(table.spec.text), response)

    async def read(self, table: TableKey, start: int, count: int, out: Optional[Array],
                   limits: Limits, begun: Optional[Started] = None) -> Array:
        if count == 0:
            return _empty(table, 0) if out is None else out
        if begun is None and count * table.spec.row_bytes > _MAX_UNARY_BYTES:
            return await self._read_stream(table, start, count, out, limits)

        async def attempt(timeout: float) -> bytes:
            nonlocal begun
            if begun is not None:
                call, begun = begun, None
                return await call.result()
            request = table.request("GetRows", start_position=start, row_count=count)
            return await self._unary("GetRows", request, timeout, table.metadata)

        try:
            data = await self._retry(limits, attempt)
        except ResourceExhausted:  # the server may be told to send smaller messages than others
            return await self._read_stream(table, start, count, out, limits)
        rows = decode_rows(data, table.spec, start, count)
        if out is None:
            return rows
        out[:] = rows
        return out

    def begin(self, table: TableKey, start: int, count: int, limits: Limits,
              done: Callable[[Optional[Array]], None]) -> Optional[Started]:
        def finish(data: Optional[bytes]) -> None:
            try:
                done(None if data is None else decode_rows(data, table.spec, start, count))
            except PhasorError:  # whoever waits for it is told
                done(None)

        request = table.request("GetRows", start_position=start, row_count=count)
        try:
            begun = self._transport.start("GetRows", request, limits.deadline - time.monotonic(),
                                          table.metadata, finish)
        except Failure:  # so is whoever reads
            return None
        self._counters.rpcs += 1
        return begun

    async def _read_stream(self, table: TableKey, start: int, count: int, out: Optional[Array],
                           limits: Limits) -> Array:
        result = _empty(table, count) if out is None else out
        done = 0

        async def attempt(timeout: float) -> None:
            nonlocal done
            before = done  # a stream that broke goes on where it broke
            request = table.request("ReadRows", start_position=start + done, row_count=count - done)
            self._counters.rpcs += 1
            try:
                async with aclosing(self._transport.stream("ReadRows", request, timeout,
                                                           table.metadata)) as messages:
                    async for data in messages:
                        rows = decode_rows(data, table.spec, start + done)
                        if not 0 < len(rows) <= count - done:
                            raise DataLoss(f"the server sent {len(rows)} rows of {count - done}")
                        result[done:done + len(rows)] = rows
                        done += len(rows)
            except Failure as failure:
                if done == count and failure.code == Unavailable.code:
                    return
                failure.progress = done > before
                raise
            if done < count:
                raise DataLoss(f"the server sent {done} rows of {count}")

        await self._retry(limits, attempt)
        return result

    async def _rows_per_message(self, rows: int, row_bytes: int, head_bytes: int,
                                limits: Limits) -> int:
        if head_bytes + rows * row_bytes <= _ALWAYS_FITS:
            return max(rows, 1)
        if self._max_message_bytes == 0:
            info = await self.server_info(limits)
            self._max_message_bytes = min(info.max_message_bytes, _MAX_MESSAGE_BYTES)
        return max(1, (self._max_message_bytes - head_bytes) // row_bytes)

    async def gather(self, table: TableKey, positions: Array, axes: int, out: Optional[Array],
                     limits: Limits) -> Array:
        field = "positions" if positions.dtype == np.int64 else "real_positions"
        several: dict[str, Any] = {"axes": axes} if axes != 1 else {}
        head_bytes = _HEAD_BYTES + len(table.request("GatherRows"))
        count = positions.size // axes
        part = await self._rows_per_message(
            count, max(table.spec.row_bytes, axes * _POSITION_BYTES), head_bytes, limits)
        if out is None and part < count:
            out = _empty(table, count)
        for done in range(0, count, part):
            some = min(part, count - done)
            asked = positions[done * axes:(done + some) * axes].tolist()
            request = table.request("GatherRows", **{field: asked}, **several)
            data = await self._ask("GatherRows", request, table.metadata, limits)
            rows = decode_rows(data, table.spec, None, some)
            if out is None:
                return rows
            out[done:done + some] = rows
        return _empty(table, 0) if out is None else out

    async def shift(self, table: TableKey, rows: Array, by: int | float, out: Array,
                    limits: Limits) -> None:
        steps: dict[str, Any] = {"steps" if isinstance(by, int) else "fractional_steps": by}
        head_bytes = _HEAD_BYTES + len(table.request("ShiftRows"))
        part = await self._rows_per_message(len(rows), table.spec.row_bytes, head_bytes, limits)
        # No rows are a call too: what is wrong with the table or with `by` is said.
        for done in range(0, max(len(rows), 1), part):
            some = rows[done:done + part]
            request = table.request("ShiftRows", data=bytes_of(some).tobytes(), **steps)
            data = await self._ask("ShiftRows", request, table.metadata, limits)
            out[done:done + part] = decode_rows(data, table.spec, None, len(some))

    async def frequencies(self, table: TableKey, limits: Limits) -> Array:
        data = await self._ask("GetFrequencies", table.request("GetFrequencies"), table.metadata,
                               limits)
        response = _parse("GetFrequenciesResponse", data)
        if response.fingerprint != table.spec.fingerprint:
            raise FailedPrecondition(f"the server sent frequencies of table "
                                     f"{response.fingerprint!r}, not of {table.spec.fingerprint}")
        frequencies = np.array(response.frequencies, np.float64)
        if frequencies.size != table.spec.frequency_count:
            raise DataLoss(f"the server sent {frequencies.size} frequencies")
        return frequencies

    async def server_info(self, limits: Limits) -> ServerInfo:
        response = _parse("GetServerInfoResponse", await self._ask("GetServerInfo", b"", (), limits))
        return ServerInfo(**{name: getattr(response, name)
                             for name in ServerInfo.__dataclass_fields__})


_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class FallbackConnection:
    """Asks the server, and computes here what it does not answer: the same bits."""

    def __init__(self, server: GrpcConnection, local: LocalConnection, counters: Counters):
        self._server = server
        self._local = local
        self._counters = counters
        self._down = False
        self._next_try = 0.0
        self._pause = 0.0

    async def _either(self, table: TableKey, limits: Limits,
                      call: Callable[[Connection, Limits], Awaitable[T]]) -> T:
        if not table.computed:
            return await call(self._server, limits)
        now = time.monotonic()
        if not self._down or now >= self._next_try:
            if self._down:  # one call tries; the others are answered here
                self._next_try = now + max(limits.deadline - now, 0)
            half = Limits(now + (limits.deadline - now) / 2, retry=False)
            try:
                result = await call(self._server, half)
            except (Unavailable, DeadlineExceeded):
                self._pause = min(self._pause * 2, _LONGEST_PAUSE) if self._down else _FIRST_PAUSE
                self._next_try = time.monotonic() + self._pause
                self._down = True
            except PhasorError:
                self._down = False
                raise
            else:
                self._down = False
                return result
        self._counters.local_fallbacks += 1
        return await call(self._local, limits)

    async def resolve(self, table: LearnedTable, limits: Limits) -> LearnedTable:
        return await self._server.resolve(table, limits)

    async def open(self, table: TableKey, limits: Limits) -> None:
        await self._either(table, limits, lambda c, l: c.open(table, l))

    async def read(self, table: TableKey, start: int, count: int, out: Optional[Array],
                   limits: Limits, begun: Optional[Started] = None) -> Array:
        return await self._either(table, limits,
                                  lambda c, l: c.read(table, start, count, out, l, begun))

    def begin(self, table: TableKey, start: int, count: int, limits: Limits,
              done: Callable[[Optional[Array]], None]) -> Optional[Started]:
        if self._down:
            return None
        now = time.monotonic()
        half = Limits(now + (limits.deadline - now) / 2)
        return self._server.begin(table, start, count, half, done)

    async def gather(self, table: TableKey, positions: Array, axes: int, out: Optional[Array],
                     limits: Limits) -> Array:
        return await self._either(table, limits,
                                  lambda c, l: c.gather(table, positions, axes, out, l))

    async def shift(self, table: TableKey, rows: Array, by: int | float, out: Array,
                    limits: Limits) -> None:
        # Not in place: what a broken call has written would be shifted twice.
        result = empty(rows.shape, rows.dtype)
        await self._either(table, limits, lambda c, l: c.shift(table, rows, by, result, l))
        out[:] = result

    async def frequencies(self, table: TableKey, limits: Limits) -> Array:
        return await self._either(table, limits, lambda c, l: c.frequencies(table, l))

    async def server_info(self, limits: Limits) -> ServerInfo:
        return await self._server.server_info(limits)


def _empty(table: TableKey, count: int) -> Array:
    return empty((count, table.spec.row_width), table.dtype)


def _parse(name: str, data: bytes) -> Any:
    try:
        return _wire.message(name).FromString(data)
    except Exception:
        raise DataLoss(f"the server's response is not a {name}") from None
