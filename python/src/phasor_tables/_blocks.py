"""Blocks of rows kept in memory, shared by all readers of a client."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from phasor_tables._elements import Array, Rows
from phasor_tables._library import gather_blocks

_MIN_BLOCK_BYTES = 256 << 10
_MAX_BLOCK_BYTES = 1 << 20
_MIN_BLOCK_ROWS = 16

Key = Tuple[str, int]


def rows_per_block(row_bytes: int) -> int:
    """Rows in a block: one of 2 KiB is fetched 128 at a time, one of 64 KiB 16."""
    size = min(max(_MIN_BLOCK_ROWS * row_bytes, _MIN_BLOCK_BYTES), _MAX_BLOCK_BYTES)
    return max(1, size // row_bytes)


class _Held(NamedTuple):
    """The blocks of one table, as gathers take rows from them."""

    keys: list[Key]
    blocks: list[Rows]
    structs: Array
    """_library.gather_blocks."""


class BlockStore:
    """Blocks by (fingerprint, index), the least recently used given up first.

    ``pending`` holds the fetches that are under way, whose result whoever comes
    next waits for as well; ``fetching`` is held to begin one. May be used by any
    number of threads; a forked process keeps the blocks and forgets the fetches.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._blocks: OrderedDict[Key, Rows] = OrderedDict()
        self._held: dict[str, _Held] = {}
        self._bytes = 0
        self.hits = 0
        self.misses = 0
        self._start()
        _stores.add(self)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self.fetching = threading.Lock()
        self.pending: dict[Key, Any] = {}

    def get(self, key: Key) -> Optional[Rows]:
        """The block of that key, if it is here."""
        with self._lock:
            block = self._blocks.get(key)
            if block is None:
                self.misses += 1
            else:
                self.hits += 1
                self._blocks.move_to_end(key)
            return block

    def peek(self, key: Key) -> Optional[Rows]:
        """As get; not counted as a use."""
        with self._lock:
            return self._blocks.get(key)

    def gather(self, table: str, positions: Array, out: Array) -> bool:
        """Fills ``out`` with rows of the table of that fingerprint, if their blocks are all here."""
        with self._lock:
            held = self._held.get(table)
            if held is None:
                held = self._held[table] = self._hold(table)
            found = gather_blocks(held.structs, positions, out)
            self.hits += found
            return found

    def _hold(self, table: str) -> _Held:
        keys = sorted(key for key in self._blocks if key[0] == table)
        blocks = [self._blocks[key] for key in keys]
        structs = [(block.first, len(block), block.ctypes.data, 0) for block in blocks]
        return _Held(keys, blocks, np.array(structs, np.int64).reshape(-1, 4))

    def _release(self) -> None:
        """Forgets what is held, and notes which blocks gathers used."""
        for held in self._held.values():
            for used in np.flatnonzero(held.structs[:, 3]).tolist():
                self._blocks.move_to_end(held.keys[used])
        self._held.clear()

    def put(self, key: Key, block: Rows, first: int) -> None:
        """Keeps a block, whose first row is the one at ``first``."""
        block.first = first
        with self._lock:
            self._release()
            old = self._blocks.pop(key, None)
            if old is not None:
                self._bytes -= old.nbytes
            self._blocks[key] = block
            self._bytes += block.nbytes
            while self._bytes > self._capacity:
                _, given_up = self._blocks.popitem(last=False)
                self._bytes -= given_up.nbytes


_stores: weakref.WeakSet[BlockStore] = weakref.WeakSet()


def _after_fork() -> None:
    # Another thread may have held a lock, or waited for a fetch.
    for store in list(_stores):
        store._start()


os.register_at_fork(after_in_child=_after_fork)
