"""Blocks of rows kept in memory, shared by all readers of a client."""

from __future__ import annotations

import collections
import os
import threading
import weakref
from collections import OrderedDict
from typing import Any, Hashable, Optional, Sequence

from phasor_tables._elements import Rows

_MIN_BLOCK_BYTES = 256 << 10
_MAX_BLOCK_BYTES = 1 << 20
_MIN_BLOCK_ROWS = 16


def rows_per_block(row_bytes: int) -> int:
    """Rows in a block: one of 2 KiB is fetched 128 at a time, one of 64 KiB 16."""
    size = min(max(_MIN_BLOCK_ROWS * row_bytes, _MIN_BLOCK_BYTES), _MAX_BLOCK_BYTES)
    return max(1, size // row_bytes)


class BlockStore:
    """Blocks by (fingerprint, index), the least recently used given up first.

    ``pending`` holds the fetches that are under way, whose result whoever comes
    next waits for as well; ``fetching`` is held to begin one. May be used by any
    number of threads; a forked process keeps the blocks and forgets the fetches.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._blocks: OrderedDict[Hashable, Rows] = OrderedDict()
        self._bytes = 0
        self.hits = 0
        self.misses = 0
        self._start()
        _stores.add(self)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self.fetching = threading.Lock()
        self.pending: dict[Hashable, Any] = {}

    def get(self, key: Hashable) -> Optional[Rows]:
        """The block of that key, if it is here."""
        with self._lock:
            block = self._blocks.get(key)
            if block is None:
                self.misses += 1
            else:
                self.hits += 1
                self._blocks.move_to_end(key)
            return block

    def peek(self, key: Hashable) -> Optional[Rows]:
        """As get; not counted as a use."""
        with self._lock:
            return self._blocks.get(key)

    def get_all(self, keys: Sequence[Hashable]) -> Optional[list[Rows]]:
        """The blocks of those keys, if all of them are here."""
        with self._lock:
            try:
                found = list(map(self._blocks.__getitem__, keys))
            except KeyError:
                return None
            collections.deque(map(self._blocks.move_to_end, keys), maxlen=0)
            self.hits += len(found)
            return found

    def put(self, key: Hashable, block: Rows, first: int) -> None:
        """Keeps a block, whose first row is the one at ``first``."""
        block.origin = (block.ctypes.data - first * (block.nbytes // len(block))) % (1 << 64)
        with self._lock:
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
