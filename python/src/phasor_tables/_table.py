"""Opened tables, for callers that wait."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from phasor_tables._connection import run
from phasor_tables._elements import Array, Rows
from phasor_tables._session import OpenTable, Positions
from phasor_tables.specs import Spec, int64


class TableProperties:
    """What is known of a table without reading it."""

    _table: OpenTable

    @property
    def spec(self) -> Spec:
        """The table's description, as it was given."""
        return self._table.key.spec.source

    @property
    def canonical_text(self) -> str:
        """One line a field that does not stand at its default (proto/README.md)."""
        return self._table.key.spec.text

    @property
    def fingerprint(self) -> str:
        """Names the table: 32 hex digits, the same on every server."""
        return self._table.key.spec.fingerprint

    @property
    def element_type(self) -> str:
        """``float32``, ``float64``, ``float16``, ``bfloat16`` or ``int32``."""
        return self._table.key.spec.element_type

    @property
    def dtype(self) -> Any:
        """NumPy's type of the elements. For bfloat16 ``ml_dtypes.bfloat16`` where
        that package is installed, and uint16 with the bits otherwise."""
        return self._table.key.dtype

    @property
    def row_width(self) -> int:
        """Elements in a row: not the width for every layout."""
        return self._table.key.spec.row_width

    @property
    def axes(self) -> int:
        """Positions that a row may have: 1, or one an axis (Rotary.mrope_section)."""
        return self._table.key.spec.axes

    @property
    def attention_factor(self) -> float:
        """What sines and cosines are multiplied by, rounded; 0.0 for tables without any."""
        return self._table.key.spec.attention_factor

    @property
    def first_position(self) -> int:
        """First position that has a row."""
        return self._table.key.spec.first_position

    @property
    def last_position(self) -> int:
        """Last position that has a row."""
        return self._table.key.spec.last_position

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self.spec}>"


class Table(TableProperties):
    """A table opened by a client, or computed here (:mod:`phasor_tables.local`).

    Rows are the same bits whoever makes them: a server or this process, alone or
    in a longer read. Arrays given back are read-only, and may share memory with
    others; those given as ``out`` are written in place and given back.

    **Performance**: reads of at most one block (256 KiB to 1 MiB) come from
    blocks shared with cursors and gathers; longer ones are streamed, and put
    together once, in ``out`` where it is given.

    **Thread safety**: all methods may be called concurrently, and in a process
    forked from the one that opened the table.

    **Errors**, beside those named: :class:`~phasor_tables.errors.OutOfRange` for
    rows that do not exist, before anything is fetched;
    :class:`~phasor_tables.errors.Unavailable`,
    :class:`~phasor_tables.errors.DeadlineExceeded`,
    :class:`~phasor_tables.errors.FailedPrecondition` if the server's table is no
    longer the one opened; :class:`~phasor_tables.errors.DataLoss` if it sends
    something else than was asked for. What ``out`` holds after an error is not
    specified.
    """

    def __init__(self, table: OpenTable) -> None:
        self._table = table

    def read(self, start: int, count: int, out: Any = None) -> Any:
        """Rows start ... start+count-1, [count, row_width].

        ``out``: a writable, contiguous array of that shape and of the table's type
        (uint16 and int16 will do for bfloat16), or a tensor in main memory.

        **Errors**: InvalidArgument (row_count, out); OutOfRange (start_position,
        row_count); ResourceExhausted for more than memory holds.
        """
        return run(self._table.read(start, count, out))

    def gather(self, positions: Positions, out: Any = None, *, axes: int = 1) -> Any:
        """One row for each of ``positions``, in that order, [..., row_width].

        Repeats and gaps are fine: one step of a batch of sequences, each at its own
        offset. Floats are real positions, each taken exactly; formulas over the reals alone.
        ``out`` as in :meth:`read`. ``axes``: positions that each row takes, the last
        dimension of ``positions`` unless 1; else the table's ``axes`` (M-RoPE).

        **Errors**: OutOfRange (positions[k]); InvalidArgument (positions,
        real_positions[k], axes, out).
        """
        return run(self._table.gather(positions, out, axes))

    def shift(self, rows: Array, k: float, out: Any = None) -> Any:
        """Turns rows of this table, [..., row_width], into the rows ``k`` positions on.

        Pair i is rotated by -k * w_i. Each element is the correctly rounded value of
        the exact rotation of the numbers given, which were rounded before: not
        always the bits of the row itself. An int is any int64, a float any finite
        number, taken exactly. ``out`` as in :meth:`read`, may be ``rows``.

        **Errors**: InvalidArgument: (spec) for tables without pairs or with one half
        of them, (by) for k, (data) for rows of another shape or type, or that hold
        NaN or infinities; OutOfRange (data) for what would round to an infinity.
        """
        return run(self._table.shift(rows, k, out))

    def frequencies(self) -> Rows:
        """The angular frequencies w_i, radians per position, float64 [h].

        **Errors**: InvalidArgument (spec) for tables without frequencies.
        """
        return run(self._table.frequencies())  # type: ignore[return-value]

    def cursor(self, offset: int = 0) -> Cursor:
        """A cursor whose first row is the one at ``offset``. Fetches nothing yet."""
        return Cursor(self._table, offset)

    def __reduce__(self) -> Any:
        if not self._table.session.local:
            raise TypeError("a table of a client is not pickled; pickle its spec and open that")
        from phasor_tables import local

        return local.open, (self.spec,)

    def __deepcopy__(self, memo: Any) -> Table:
        return self  # immutable


class CursorPosition:
    """The place of a cursor, in its table and in the block it stands in."""

    def __init__(self, table: OpenTable, offset: int) -> None:
        self._table = table
        self.seek(offset)
        self._leave()

    def _leave(self) -> None:
        self._block: Optional[Rows] = None
        self._first = 0
        self._count = 0
        self._ahead = -1

    @property
    def position(self) -> int:
        """Position of the row that comes next."""
        return self._position

    def seek(self, position: int) -> None:
        """Goes to ``position``; whether there is a row is for the next call to say."""
        self._position = int64("start_position", position)

    def _here(self) -> Optional[Rows]:
        """The next row, if it is in the block at hand."""
        at = self._position - self._first
        if not 0 <= at < self._count:
            return None
        assert self._block is not None
        self._position += 1
        if at >= self._ahead >= 0:  # past the middle: the next block is fetched meanwhile
            self._ahead = -1
            self._table.begin(self._first // self._table.rows_per_block + 1)
        row: Rows = self._block[at]
        return row

    async def _move(self) -> None:
        """Takes the block of the next row."""
        self._table.key.spec.check_range(self._position, 1)
        index = self._position // self._table.rows_per_block
        self._block = await self._table.block(index)
        self._first, self._count = self._table.extent(index)
        self._ahead = self._count // 2


class Cursor(CursorPosition, Iterator[Rows]):
    """Walks a table's rows from a position on: incremental decoding.

    With a key/value cache the new token stands at the position that is the number
    of tokens before it: ``table.cursor(prompt_length)``, then ``next(cursor)`` a
    token. Almost every row is a look at memory: rows come in blocks, shared by all
    readers, and the next block is fetched in the background when the middle of
    one is passed.

    One thread at a time a cursor. After an error the position is unchanged. As an
    iterator it stops at the end of a table that has one.
    """

    def next(self) -> Rows:
        """The row at ``position``, [row_width], which then becomes the next one.

        **Errors**: those of Table.read; the end of a learned table is OutOfRange at
        the first row that does not exist, never earlier.
        """
        row = self._here()
        if row is None:
            run(self._move())
            row = self._here()
            assert row is not None
        return row

    def __next__(self) -> Rows:
        if self._position > self._table.key.spec.last_position:
            raise StopIteration
        return self.next()

    def __iter__(self) -> Cursor:
        return self
