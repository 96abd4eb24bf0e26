"""The way to a server, for callers that wait."""

from __future__ import annotations

from typing import Any, Optional

import grpc

from phasor_tables._channel import ChannelTransport
from phasor_tables._connection import Counters, ServerInfo, run
from phasor_tables._session import Options, Session
from phasor_tables._table import Table
from phasor_tables.rotary import Rotary
from phasor_tables.specs import LearnedInit, LearnedTable, Sinusoidal, Spec


class Client:
    """Opens the tables of a server.

    >>> client = Client("dns:///positions:50051", fallback="local")
    >>> rows = client.sinusoidal(width=512).read(0, 1024)

    **Parameters**: ``address``, ``dns:///name:port``, ``host:port``, ``unix:PATH``
    or several of ``10.0.0.1:50051,10.0.0.2:50051``; connected to when first used.
    ``fallback="local"``: a call that finds the server unavailable, or waits for
    half of ``timeout`` in vain, is computed in this process, and so are those
    after it until the server is back; the same bits. ``timeout``, in seconds,
    bounds a method, its retries included: UNAVAILABLE is tried again, after
    ``initial_backoff`` seconds, doubling to ``max_backoff``, or as much later as the
    server asks. ``block_cache_bytes`` bounds the blocks of rows kept.
    ``credentials``: for TLS; plain text if None. ``channel_options``: more of gRPC's.

    **Thread safety**: all methods may be called concurrently. A forked process may
    go on with the client, and connects anew; the rows held stay usable.

    **Errors**: InvalidArgument naming the parameter.
    """

    def __init__(self, address: str, *, fallback: Optional[str] = None, timeout: float = 10.0,
                 block_cache_bytes: int = 64 << 20, initial_backoff: float = 0.05,
                 max_backoff: float = 1.0,
                 credentials: Optional[grpc.ChannelCredentials] = None,
                 channel_options: tuple[tuple[str, Any], ...] = ()) -> None:
        options = Options(fallback, timeout, block_cache_bytes, initial_backoff, max_backoff)
        self._transport = ChannelTransport(address, credentials, tuple(channel_options))
        self._session = Session(self._transport, options, local=False)

    def open(self, spec: Spec) -> Table:
        """Opens the table that ``spec`` describes.

        Checks it here, asks the server for the same one and compares. From then on
        every call names the table's fingerprint, so that rows of two tables never mix.

        **Errors**: InvalidArgument naming the field (spec.sinusoidal.width ...);
        OutOfRange for values that do not fit the element type; FailedPrecondition if
        the server means another table by the same spec; NotFound for a learned table
        that it has not loaded; Unavailable, DeadlineExceeded.
        """
        return Table(run(self._session.open(spec)))

    def sinusoidal(self, width: int, base: Optional[float] = None, **fields: Any) -> Table:
        """Opens ``Sinusoidal(width, base, **fields)``."""
        return self.open(Sinusoidal(width, base, **fields))

    def rotary(self, width: int, base: Optional[float] = None, **fields: Any) -> Table:
        """Opens ``Rotary(width, base, **fields)``."""
        return self.open(Rotary(width, base, **fields))

    def learned_init(self, max_positions: int, width: int, **fields: Any) -> Table:
        """Opens ``LearnedInit(max_positions, width, **fields)``."""
        return self.open(LearnedInit(max_positions, width, **fields))

    def learned_table(self, name: str, **fields: Any) -> Table:
        """Opens ``LearnedTable(name, **fields)``: rows the server loaded from a checkpoint."""
        return self.open(LearnedTable(name, **fields))

    def server_info(self) -> ServerInfo:
        """The server's version and limits."""
        return run(self._session.connection.server_info(self._session.limits()))

    def counters(self) -> Counters:
        """What the client did so far."""
        return self._session.counters()

    def close(self) -> None:
        """Ends the connection, and calls under way. A later call connects anew."""
        self._transport.close()

    def __deepcopy__(self, memo: Any) -> Client:
        return self  # copies share the connection

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

