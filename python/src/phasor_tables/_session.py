"""What the tables of one client share, and reading through it, as coroutines."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np

from phasor_tables._blocks import BlockStore, rows_per_block
from phasor_tables._connection import (Connection, Counters, FallbackConnection, GrpcConnection,
                                       Limits, LocalConnection, TableKey, Transport)
from phasor_tables._elements import Array, Rows, array_of, empty, holds, output, read_only
from phasor_tables.errors import InvalidArgument, field_error
from phasor_tables.specs import LearnedTable, Spec, int64, real

Positions = Union[Sequence[int], Sequence[float], Array]

# Rows that take more than this are not asked memory for before their positions are checked.
_MANY_BYTES = 1 << 20


@dataclass(frozen=True)
class Options:
    """How a client works."""

    fallback: Optional[str] = None
    timeout: float = 10.0
    block_cache_bytes: int = 64 << 20
    initial_backoff: float = 0.05
    max_backoff: float = 1.0

    def __post_init__(self) -> None:
        if self.fallback is not None and not (
                isinstance(self.fallback, str) and self.fallback == "local"):
            raise field_error(InvalidArgument, "fallback", f'{self.fallback!r} is not "local"')
        for name in ("timeout", "initial_backoff", "max_backoff"):
            if not math.isfinite(real(name, getattr(self, name))):
                raise field_error(InvalidArgument, name, f"{getattr(self, name)!r} is not finite")
        for name, least in (("timeout", 0.0), ("initial_backoff", 0.0),
                            ("max_backoff", self.initial_backoff)):
            value = getattr(self, name)
            if not value > 0 or value < least:
                raise field_error(InvalidArgument, name, f"{value!r} is too small")
        if int64("block_cache_bytes", self.block_cache_bytes) < 0:
            raise field_error(InvalidArgument, "block_cache_bytes",
                              f"{self.block_cache_bytes!r} is negative")


class Session:
    """One connection, and the blocks read through it."""

    def __init__(self, transport: Transport, options: Options, local: bool) -> None:
        self.options = options
        self.local = local
        self.blocks = BlockStore(options.block_cache_bytes)
        self._counters = Counters()
        here = LocalConnection(transport)
        server = GrpcConnection(transport, self._counters,
                                (options.initial_backoff, options.max_backoff))
        self.connection: Connection = server
        if local:
            self.connection = here
        elif options.fallback is not None:
            self.connection = FallbackConnection(server, here, self._counters)

    def limits(self) -> Limits:
        """Bounds of a call that begins now."""
        return Limits(time.monotonic() + self.options.timeout)

    async def open(self, spec: Spec) -> OpenTable:
        """Opens the table of ``spec``."""
        if isinstance(spec, LearnedTable) and spec.content_sha256 is None:
            # What the server fills in is its own: it need not be asked again.
            return OpenTable(self, await self.connection.resolve(spec, self.limits()))
        table = OpenTable(self, spec)
        await table.open()
        return table

    def counters(self) -> Counters:
        """What was done so far."""
        return Counters(**{**vars(self._counters), "block_hits": self.blocks.hits,
                           "block_misses": self.blocks.misses})


class OpenTable:
    """A table opened in a session."""

    def __init__(self, session: Session, spec: Spec) -> None:
        self.session = session
        self.key = TableKey(spec)
        self.rows_per_block = rows_per_block(self.key.spec.row_bytes)

    async def open(self) -> None:
        await self.session.connection.open(self.key, self.session.limits())

    def extent(self, index: int) -> tuple[int, int]:
        """First position and number of rows of a block; the table's ends cut it."""
        spec, rows = self.key.spec, self.rows_per_block
        first = max(spec.first_position, index * rows)
        return first, min(spec.last_position, index * rows + rows - 1) - first + 1

    def _block_key(self, index: int) -> tuple[str, int]:
        return self.key.spec.fingerprint, index

    def begin(self, index: int) -> None:
        """Fetches a block in the background, unless it is here, on its way, or past the end."""
        key = self._block_key(index)
        blocks = self.session.blocks
        first, count = self.extent(index)
        if count > 0 and key not in blocks.pending and blocks.peek(key) is None:
            self._start(key, first, count)

    def _start(self, key: tuple[str, int], first: int, count: int) -> Any:
        blocks = self.session.blocks

        def done(rows: Optional[Array]) -> None:
            if rows is not None:
                blocks.put(key, read_only(rows), first)
            blocks.pending.pop(key, None)

        with blocks.fetching:
            begun = blocks.pending.get(key)
            if begun is not None or blocks.peek(key) is not None:  # begun or ended meanwhile
                return begun
            begun = self.session.connection.begin(self.key, first, count, self.session.limits(),
                                                  done)
            if begun is not None:
                blocks.pending[key] = begun
                if begun.done():  # before it was noted
                    blocks.pending.pop(key, None)
            return begun

    async def block(self, index: int) -> Rows:
        """A block, from memory or fetched."""
        key = self._block_key(index)
        blocks = self.session.blocks
        begun = blocks.pending.get(key)  # before the look at the blocks: it may end between
        found = blocks.get(key)
        if found is not None:
            return found
        first, count = self.extent(index)
        if begun is None:
            begun = self._start(key, first, count)
            found = blocks.peek(key)
            if begun is None and found is not None:
                return found
        rows = await self.session.connection.read(self.key, first, count, None,
                                                  self.session.limits(), begun)
        block = read_only(rows)
        blocks.put(key, block, first)
        return block

    def range_of(self, start: Any, count: Any) -> tuple[int, int]:
        """A range of rows that exist."""
        start, count = int64("start_position", start), int64("row_count", count)
        self.key.spec.check_range(start, count)
        return start, count

    async def read(self, start: Any, count: Any, out: Any) -> Any:
        start, count = self.range_of(start, count)
        spec = self.key.spec
        to = None if out is None else output(out, (count, spec.row_width), self.key.dtype)
        if count > self.rows_per_block or count == 0:
            rows = await self.session.connection.read(self.key, start, count, to,
                                                      self.session.limits())
            return read_only(rows) if out is None else out
        index = start // self.rows_per_block
        first, held = self.extent(index)
        block = await self.block(index)
        skip = start - first
        if out is None and skip + count <= held:
            return block[skip:skip + count]
        if to is None:
            to = empty((count, spec.row_width), self.key.dtype)
        here = min(count, held - skip)
        to[:here] = block[skip:skip + here]
        if here < count:
            to[here:] = (await self.block(index + 1))[:count - here]
        return read_only(to) if out is None else out

    def positions_of(self, positions: Any, axes: Any) -> tuple[Array, int, tuple[int, ...]]:
        """Positions, int64 or float64, [n]; how many a row; and the shape of the rows."""
        wanted, shape = _positions(positions)
        axes = int64("axes", axes)
        return wanted, axes, (*self._rows_of(shape, axes), self.key.spec.row_width)

    async def gather(self, positions: Any, out: Any, axes: Any) -> Any:
        spec = self.key.spec
        wanted, axes, shape = self.positions_of(positions, axes)
        if out is None and wanted.size * spec.row_bytes > _MANY_BYTES:
            spec.check_positions(wanted)  # before there is memory for them
        to = None if out is None else output(out, shape, self.key.dtype).reshape(-1, shape[-1])
        rows = self._gather_here(wanted, to) if axes == 1 else None
        if rows is None:
            spec.check_positions(wanted)
            rows = await self.session.connection.gather(self.key, wanted, axes, to,
                                                        self.session.limits())
        return read_only(rows.reshape(shape)) if out is None else out

    def _rows_of(self, shape: tuple[int, ...], axes: int) -> tuple[int, ...]:
        """The shape of rows at positions of this shape, ``axes`` a row."""
        if axes == 1:
            return shape
        if axes != self.key.spec.axes:
            raise field_error(InvalidArgument, "axes", f"{axes} is neither 1 nor the number of "
                              f"axes that the table has, {self.key.spec.axes}")
        if not shape or shape[-1] != axes:
            raise field_error(InvalidArgument, "positions", f"are of shape {list(shape)}; "
                              f"[..., {axes}] is one position an axis")
        return shape[:-1]

    def _gather_here(self, positions: Array, out: Optional[Array]) -> Optional[Array]:
        """The rows, if all of them are in blocks that are here."""
        if positions.dtype != np.int64:
            return None
        spec = self.key.spec
        to = empty((positions.size, spec.row_width), self.key.dtype) if out is None else out
        return to if self.session.blocks.gather(spec.fingerprint, positions, to) else None

    async def shift(self, rows: Any, by: Any, out: Any) -> Any:
        steps: int | float
        if isinstance(by, (float, np.floating)):
            steps = real("by", by)
        else:
            steps = int64("by", by)
        width, dtype = self.key.spec.row_width, self.key.dtype
        given = array_of("data", rows)
        if given.ndim == 0 or given.shape[-1] != width or not holds(given, dtype):
            raise field_error(InvalidArgument, "data", f"is {given.dtype} {list(given.shape)}; "
                              f"{dtype} [..., {width}] is shifted")
        given = np.ascontiguousarray(given).view(dtype)
        to = empty(given.shape, dtype) if out is None else output(out, given.shape, dtype)
        if given.ctypes.data != to.ctypes.data and np.may_share_memory(given, to):
            given = given.copy()  # parts of them would be written before they are read
        await self.session.connection.shift(self.key, given.reshape(-1, width), steps,
                                            to.reshape(-1, width), self.session.limits())
        return read_only(to) if out is None else out

    async def frequencies(self) -> Array:
        return read_only(await self.session.connection.frequencies(self.key,
                                                                   self.session.limits()))


def _positions(positions: Any) -> tuple[Array, tuple[int, ...]]:
    """Positions as int64 or float64, exactly, [n], and the shape that they were given in."""
    given = array_of("positions", positions)
    if isinstance(positions, (list, tuple)) and given.dtype.kind in "fO" and given.size:
        given = _each(np.array(positions, object))
    return _flat(given), given.shape


def _each(given: Array) -> Array:
    # NumPy rounds integers that stand beside floats, or beside integers of other kinds.
    items = given.reshape(-1).tolist()
    names = "positions", "real_positions"
    real_ones = any(isinstance(item, (float, np.floating)) for item in items)
    numbers: list[int | float] = []
    for k, item in enumerate(items):
        field = f"{names[real_ones]}[{k}]"
        if isinstance(item, (bool, np.bool_)) or not isinstance(
                item, (int, np.integer, float, np.floating)):
            raise field_error(InvalidArgument, field, f"{item!r} is no number")
        number = real(field, item) if real_ones else int64(field, item)
        if number != item and item == item:
            raise field_error(InvalidArgument, field, f"{item!r} is no binary64; give integers alone")
        numbers.append(number)
    return np.array(numbers, np.float64 if real_ones else np.int64).reshape(given.shape)


def _flat(given: Array) -> Array:
    if given.dtype.kind == "f" and given.dtype.itemsize <= 8:
        if given.size == 0:  # as an empty list is
            return np.empty(0, np.int64)
        return np.ascontiguousarray(given, np.float64).reshape(-1)
    if given.dtype.kind == "u" and given.size and int(given.max()) >= 2**63:
        raise field_error(InvalidArgument, "positions", f"{given.max()} is past 64 bits")
    if given.dtype.kind not in "iu":
        raise field_error(InvalidArgument, "positions",
                          f"are of type {given.dtype}; give integers, or floats for real positions")
    return np.ascontiguousarray(given, np.int64).reshape(-1)
