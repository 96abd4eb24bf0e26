"""The way to a server, for callers that wait."""

from __future__ import annotations

from typing import Any, Optional

import grpc

from phasor_tables._channel import ChannelTransport
from phasor_tables._connection import Counters, ServerInfo, run
from phasor_tables._session import Options, Session
from phasor_tables._table import Table
from phasor_tables.models import ConfigJson, ModelDescription, describe_model, model_spec
from phasor_tables.rotary import Rotary
from phasor_tables.specs import (Alibi, LearnedInit, LearnedTable, NoPosition, RelativeBuckets,
                                 Sinusoidal, Spec, Timestep)


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
        self._transport = ChannelTransport(address, credentials, channel_options)
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

    def timestep(self, width: int, downscale_freq_shift: Optional[float] = None,
                 **fields: Any) -> Table:
        """Opens ``Timestep(width, downscale_freq_shift, **fields)``."""
        return self.open(Timestep(width, downscale_freq_shift, **fields))

    def none(self, width: int, **fields: Any) -> Table:
        """Opens ``NoPosition(width, **fields)``."""
        return self.open(NoPosition(width, **fields))

    def alibi(self, head_count: int, **fields: Any) -> Table:
        """Opens ``Alibi(head_count, **fields)``."""
        return self.open(Alibi(head_count, **fields))

    def relative_buckets(self, **fields: Any) -> Table:
        """Opens ``RelativeBuckets(**fields)``."""
        return self.open(RelativeBuckets(**fields))

    def open_model(self, config_json: ConfigJson, table: Optional[str] = None,
                   **options: Any) -> Table:
        """Opens a table of the model whose config.json has the text ``config_json``.

        The one of that name (:meth:`describe_model` lists them), or the only one that has
        a spec. The configuration is read in this process, the table asked for as by
        :meth:`open`. ``options``: those of :func:`phasor_tables.describe_model`.

        **Errors**: InvalidArgument (config_json ..., an option, or table, listing the
        names); those of open.
        """
        return self.open(model_spec(config_json, table, **options))

    def describe_model(self, config_json: ConfigJson, **options: Any) -> ModelDescription:
        """Which tables a model has: :func:`phasor_tables.describe_model`. Asks no server."""
        return describe_model(config_json, **options)

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

