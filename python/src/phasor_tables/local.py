"""Tables computed in this process, without any server: the same bits.

>>> from phasor_tables import local
>>> local.sinusoidal(width=4).read(0, 3)
"""

from __future__ import annotations

from typing import Any, Callable, Optional, TypeVar

from phasor_tables._connection import run
from phasor_tables._session import Options, Session
from phasor_tables._table import Table
from phasor_tables.models import ConfigJson, model_spec
from phasor_tables.rotary import Rotary
from phasor_tables.specs import (Alibi, LearnedInit, NoPosition, RelativeBuckets, Sinusoidal, Spec,
                                 Timestep)

T = TypeVar("T")


class _HereTransport:
    """Of a session that calls nobody."""

    async def compute(self, work: Callable[[], T]) -> T:
        return work()


_session = Session(_HereTransport(), Options(), local=True)  # type: ignore[arg-type]


def open(spec: Spec) -> Table:
    """The table that ``spec`` describes.

    **Errors**: InvalidArgument naming the field (spec.sinusoidal.width ...);
    OutOfRange for values that do not fit the element type; NotFound for a
    LearnedTable, whose rows a server has.
    """
    return Table(run(_session.open(spec)))


def sinusoidal(width: int, base: Optional[float] = None, **fields: Any) -> Table:
    """Opens ``Sinusoidal(width, base, **fields)``."""
    return open(Sinusoidal(width, base, **fields))


def rotary(width: int, base: Optional[float] = None, **fields: Any) -> Table:
    """Opens ``Rotary(width, base, **fields)``."""
    return open(Rotary(width, base, **fields))


def learned_init(max_positions: int, width: int, **fields: Any) -> Table:
    """Opens ``LearnedInit(max_positions, width, **fields)``."""
    return open(LearnedInit(max_positions, width, **fields))


def timestep(width: int, downscale_freq_shift: Optional[float] = None, **fields: Any) -> Table:
    """Opens ``Timestep(width, downscale_freq_shift, **fields)``."""
    return open(Timestep(width, downscale_freq_shift, **fields))


def none(width: int, **fields: Any) -> Table:
    """Opens ``NoPosition(width, **fields)``."""
    return open(NoPosition(width, **fields))


def alibi(head_count: int, **fields: Any) -> Table:
    """Opens ``Alibi(head_count, **fields)``."""
    return open(Alibi(head_count, **fields))


def relative_buckets(**fields: Any) -> Table:
    """Opens ``RelativeBuckets(**fields)``."""
    return open(RelativeBuckets(**fields))


def open_model(config_json: ConfigJson, table: Optional[str] = None, **options: Any) -> Table:
    """Opens a table of a model, as :meth:`phasor_tables.Client.open_model`."""
    return open(model_spec(config_json, table, **options))
