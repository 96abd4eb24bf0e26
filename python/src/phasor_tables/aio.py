"""The same for asyncio: :class:`Client`, :class:`Table`, :class:`Cursor`.

A client belongs to the event loop that first calls it. Methods do, take and
raise what those of :mod:`phasor_tables` do; rows that are in memory are given
without suspending. What a fallback computes here runs on a worker thread.

A process that is forked while a client of gRPC's for asyncio is connected, this
one or another, cannot call any server: clients of both kinds are Unavailable
there at once, or fall back. Close them before.
"""

from __future__ import annotations

import asyncio
from typing import Any, AsyncGenerator, AsyncIterator, Callable, Optional, TypeVar

import grpc
import grpc.aio

from phasor_tables._channel import check_process, options_of, target_of
from phasor_tables._connection import Counters, ServerInfo
from phasor_tables._elements import Array, Rows
from phasor_tables._session import OpenTable, Options, Positions, Session
from phasor_tables._table import CursorPosition, TableProperties
from phasor_tables._wire import SERVICE, Failure
from phasor_tables.models import ConfigJson, ModelDescription, describe_model, model_spec
from phasor_tables.rotary import Rotary
from phasor_tables.specs import (Alibi, LearnedInit, LearnedTable, NoPosition, RelativeBuckets,
                                 Sinusoidal, Spec, Timestep)

__all__ = ["Client", "Cursor", "Table"]

T = TypeVar("T")


def _failure_of(error: grpc.aio.AioRpcError) -> Failure:
    return Failure(error.code().name, error.details() or "", tuple(error.trailing_metadata()))


class _Started:
    def __init__(self, task: asyncio.Task[bytes]) -> None:
        self._task = task

    async def result(self) -> bytes:
        # One waiter's end is not the others'.
        return await asyncio.shield(self._task)

    def done(self) -> bool:
        return self._task.done()


class _AioTransport:
    def __init__(self, address: str, credentials: Optional[grpc.ChannelCredentials],
                 options: tuple[tuple[str, Any], ...]) -> None:
        self._target = target_of(address)
        self._credentials = credentials
        self._options = options_of(credentials, options)
        self._channel: Any = None

    def _connected(self) -> Any:
        check_process()
        if self._channel is None:
            if self._credentials is None:
                self._channel = grpc.aio.insecure_channel(self._target, self._options)
            else:
                self._channel = grpc.aio.secure_channel(self._target, self._credentials,
                                                        self._options)
        return self._channel

    async def unary(self, method: str, request: bytes, timeout: float, metadata: Any) -> bytes:
        call = self._connected().unary_unary(SERVICE + method)
        try:
            return await call(  # type: ignore[no-any-return]
                request, timeout=timeout, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            raise _failure_of(error) from None

    async def stream(self, method: str, request: bytes, timeout: float,
                     metadata: Any) -> AsyncGenerator[bytes, None]:
        call = self._connected().unary_stream(SERVICE + method)(request, timeout=timeout,
                                                                metadata=metadata)
        try:
            async for message in call:
                yield message
        except grpc.aio.AioRpcError as error:
            raise _failure_of(error) from None
        finally:
            call.cancel()

    def start(self, method: str, request: bytes, timeout: float, metadata: Any,
              done: Callable[[Optional[bytes]], None]) -> _Started:
        task = asyncio.ensure_future(self.unary(method, request, timeout, metadata))

        def finish(ended: asyncio.Task[bytes]) -> None:
            failed = ended.cancelled() or ended.exception() is not None
            done(None if failed else ended.result())

        task.add_done_callback(finish)
        return _Started(task)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def compute(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, work)

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()


class Table(TableProperties):
    """As :class:`phasor_tables.Table`."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    async def read(self, start: int, count: int, out: Any = None) -> Any:
        """As :meth:`phasor_tables.Table.read`."""
        return await self._table.read(start, count, out)

    async def gather(self, positions: Positions, out: Any = None, *, axes: int = 1) -> Any:
        """As :meth:`phasor_tables.Table.gather`."""
        return await self._table.gather(positions, out, axes)

    async def shift(self, rows: Array, k: float, out: Any = None) -> Any:
        """As :meth:`phasor_tables.Table.shift`."""
        return await self._table.shift(rows, k, out)

    async def frequencies(self) -> Array:
        """As :meth:`phasor_tables.Table.frequencies`."""
        return await self._table.frequencies()

    def cursor(self, offset: int = 0) -> Cursor:
        """As :meth:`phasor_tables.Table.cursor`."""
        return Cursor(self._table, offset)


class Cursor(CursorPosition, AsyncIterator[Rows]):
    """As :class:`phasor_tables.Cursor`; one task at a time a cursor."""

    async def next(self) -> Rows:
        """The row at ``position``, [row_width], which then becomes the next one."""
        row = self._here()
        if row is None:
            await self._move()
            row = self._here()
            assert row is not None
        return row

    async def __anext__(self) -> Rows:
        if self._position > self._table.key.spec.last_position:
            raise StopAsyncIteration
        return await self.next()

    def __aiter__(self) -> Cursor:
        return self


class Client:
    """As :class:`phasor_tables.Client`, its parameters included."""

    def __init__(self, address: str, *, fallback: Optional[str] = None, timeout: float = 10.0,
                 block_cache_bytes: int = 64 << 20, initial_backoff: float = 0.05,
                 max_backoff: float = 1.0,
                 credentials: Optional[grpc.ChannelCredentials] = None,
                 channel_options: tuple[tuple[str, Any], ...] = ()) -> None:
        options = Options(fallback, timeout, block_cache_bytes, initial_backoff, max_backoff)
        self._transport = _AioTransport(address, credentials, channel_options)
        self._session = Session(self._transport, options, local=False)

    async def open(self, spec: Spec) -> Table:
        """As :meth:`phasor_tables.Client.open`."""
        return Table(await self._session.open(spec))

    async def sinusoidal(self, width: int, base: Optional[float] = None, **fields: Any) -> Table:
        """Opens ``Sinusoidal(width, base, **fields)``."""
        return await self.open(Sinusoidal(width, base, **fields))

    async def rotary(self, width: int, base: Optional[float] = None, **fields: Any) -> Table:
        """Opens ``Rotary(width, base, **fields)``."""
        return await self.open(Rotary(width, base, **fields))

    async def learned_init(self, max_positions: int, width: int, **fields: Any) -> Table:
        """Opens ``LearnedInit(max_positions, width, **fields)``."""
        return await self.open(LearnedInit(max_positions, width, **fields))

    async def timestep(self, width: int, downscale_freq_shift: Optional[float] = None,
                       **fields: Any) -> Table:
        """Opens ``Timestep(width, downscale_freq_shift, **fields)``."""
        return await self.open(Timestep(width, downscale_freq_shift, **fields))

    async def none(self, width: int, **fields: Any) -> Table:
        """Opens ``NoPosition(width, **fields)``."""
        return await self.open(NoPosition(width, **fields))

    async def alibi(self, head_count: int, **fields: Any) -> Table:
        """Opens ``Alibi(head_count, **fields)``."""
        return await self.open(Alibi(head_count, **fields))

    async def relative_buckets(self, **fields: Any) -> Table:
        """Opens ``RelativeBuckets(**fields)``."""
        return await self.open(RelativeBuckets(**fields))

    async def open_model(self, config_json: ConfigJson, table: Optional[str] = None,
                         **options: Any) -> Table:
        """As :meth:`phasor_tables.Client.open_model`."""
        return await self.open(model_spec(config_json, table, **options))

    def describe_model(self, config_json: ConfigJson, **options: Any) -> ModelDescription:
        """As :meth:`phasor_tables.Client.describe_model`; nothing to await."""
        return describe_model(config_json, **options)

    async def learned_table(self, name: str, **fields: Any) -> Table:
        """Opens ``LearnedTable(name, **fields)``: rows the server loaded from a checkpoint."""
        return await self.open(LearnedTable(name, **fields))

    async def server_info(self) -> ServerInfo:
        """The server's version and limits."""
        return await self._session.connection.server_info(self._session.limits())

    def counters(self) -> Counters:
        """What the client did so far."""
        return self._session.counters()

    async def close(self) -> None:
        """Ends the connection, and calls under way. A later call connects anew."""
        await self._transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
