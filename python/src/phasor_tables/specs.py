"""Which table: its description, as a caller writes it."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

from phasor_tables.errors import InvalidArgument, field_error
from phasor_tables.rotary import Rotary


@dataclass(frozen=True)
class Sinusoidal:
    """Rows of sines and cosines.

    Pair i of row p is (sin((p + position_offset) * w_i), cos((p +
    position_offset) * w_i)), i = 0 ... h-1 with h = width/2, at positions -2**53
    ... 2**53. Nothing is checked before the table is opened.
    """

    width: int
    """d: even, 2 ... 65536."""
    base: Optional[float] = None
    """1 < base <= 2**64; 10000 if None, and None beside explicit frequencies."""
    ladder: Optional[str] = None
    """The angular frequencies w_i, radians per position: ``paper``,
    base**(-i/h), the default; ``inclusive``, base**(-i/(h-1)); ``downscaled``,
    base**(-i/(h-downscale_shift)); ``explicit``. The field that only one of
    them has implies it."""
    layout: str = "sin_cos_interleaved"
    """Where sines s and cosines c stand in a row: ``sin_cos_interleaved`` (s0 c0
    s1 c1 ...), ``sin_cos_halves``, ``cos_sin_halves``, ``cos_sin_interleaved``,
    ``cos_sin_duplicated_halves``, ``cos_sin_duplicated_pairs`` (2 * width
    elements a row), ``cos_only``, ``sin_only`` (width / 2)."""
    position_offset: int = 0
    """Added to every position."""
    zero_row: Optional[int] = None
    """The row, after the offset, that is all +0; none if None."""
    downscale_shift: Optional[float] = None
    """0 ... h - 1/2; required for the downscaled ladder."""
    frequencies: Optional[Sequence[float]] = None
    """h of them, each 0 or 2**-64 <= abs(w) <= 2**32: the explicit ladder."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""


@dataclass(frozen=True)
class LearnedInit:
    """A learned table's initial value: independent draws from N(0, stddev**2).

    A pure function of its fields, row and column, the same in every language
    (docs/seeded-init.md).
    """

    max_positions: int
    """Rows: at least 1; max_positions * width at most 2**62."""
    width: int
    """d: 1 ... 65536, odd allowed."""
    stddev: Optional[float] = None
    """Positive and finite; 0.02 if None."""
    seed: int = 0
    """Any int64, taken mod 2**64."""
    stream: int = 0
    """0 ... 2**63-1."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""


@dataclass(frozen=True)
class LearnedTable:
    """Rows that a server loaded from a checkpoint, by the name they have there.

    Row 0 is that of the first token. The server fills in what is not given, and
    then the description says which rows are meant, bit for bit. Only a server has
    the rows: nothing computes them here.
    """

    name: str
    """1 ... 128 of ASCII letters, digits and ``._-/``."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""
    content_sha256: Optional[str] = None
    """64 hex digits, of the rows as the checkpoint holds them; None: those held now."""
    max_positions: Optional[int] = None
    """Rows."""
    width: Optional[int] = None
    """d: 1 ... 65536, odd allowed."""


Spec = Union[Sinusoidal, Rotary, LearnedInit, LearnedTable]


def int64(field: str, value: Any) -> int:
    """``value`` as an int64, or an error that names ``field``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise field_error(InvalidArgument, field, f"{value!r} is not an integer") from None
    if not -(2**63) <= number < 2**63:
        raise field_error(InvalidArgument, field, f"{number} is past 64 bits")
    return number


def real(field: str, value: Any) -> float:
    """``value`` as a binary64, or an error that names ``field``."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise field_error(InvalidArgument, field, f"{value!r} is not a real number") from None
