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
    """d: even, 2 ... 65536; odd with ``odd_column``."""
    base: Optional[float] = None
    """1 < base <= 2**64; 10000 if None, and None beside the ladders ``explicit`` and
    ``timescales``."""
    ladder: Optional[str] = None
    """The angular frequencies w_i, radians per position: ``paper``,
    base**(-i/h), the default; ``inclusive``, base**(-i/(h-1)); ``downscaled``,
    base**(-i/(h-downscale_shift)); ``explicit``; ``timescales``,
    min_timescale (max_timescale/min_timescale)**(-i/(h-1)), or min_timescale if h is 1
    (tensor2tensor). The fields that only one of them has imply it."""
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
    min_timescale: Optional[float] = None
    """2**-32 ... 2**32: the first frequency of the ladder ``timescales``; 1 if None."""
    max_timescale: Optional[float] = None
    """Above min_timescale, at most 2**64; 10000 if None."""
    odd_column: Optional[str] = None
    """What a row of odd width has beside its pairs: ``zero``, h = (width-1)/2 and a
    last column that is +0 (tensor2tensor, fairseq; from width 3 on), or ``sine``, h =
    (width+1)/2, the last pair without its cosine (the paper, Marian; the paper ladder
    is then base**(-2i/width)). Widths are even if None."""
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


@dataclass(frozen=True)
class Timestep:
    """Timestep embeddings of diffusion models (diffusers' get_timestep_embedding).

    Sines, then cosines: pair i of row t is (sin(t * w_i), cos(t * w_i)), w_i = scale *
    max_period**(-i/(h - downscale_freq_shift)), i = 0 ... h-1 with h = floor(width/2), at
    positions -2**53 ... 2**53; fractional timesteps are real positions. An odd width has a
    last column that is +0.
    """

    width: int
    """2 ... 65536."""
    downscale_freq_shift: Optional[float] = None
    """0 ... h - 1/2; required: models use 0 and 1 alike."""
    max_period: float = 10000.0
    """1 < max_period <= 2**64."""
    scale: float = 1.0
    """What every angle is multiplied by: 2**-32 ... 2**32."""
    flip_sin_to_cos: bool = False
    """Cosines before sines."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""


@dataclass(frozen=True)
class NoPosition:
    """Rows that change nothing, the same at every position, for layers without positions (NoPE).

    Cosines of 1 and sines of 0 for what turns queries and keys by them, or zeros for
    what adds them; at positions -2**53 ... 2**53.
    """

    width: int
    """2 ... 65536 and even; from 1 on and odd too if additive."""
    layout: str = "cos_sin_halves"
    """Of cosines and sines, as :class:`Sinusoidal` has it; the default if additive."""
    additive: bool = False
    """Rows of ``width`` zeros."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""


@dataclass(frozen=True)
class Alibi:
    """Biases that are added to attention scores (ALiBi; Press et al. 2021): one of each head a row.

    With N heads, N a power of two, the slopes are m_k = 2**(-bias_max (k+1) / N), k = 0
    ... N-1. With n heads, N/2 < n < N, they are those of N heads that stand second,
    fourth, ..., then those that stand first, third, ..., n in all. Rows are at positions
    -2**53 ... 2**53, of float16 as far as no bias rounds to an infinity.
    """

    head_count: int
    """n, elements in a row: 1 ... 65536."""
    bias_max: float = 8.0
    """2**-32 ... 128."""
    form: str = "distance"
    """What position p is: ``distance``, -m_k abs(p) (the paper, MPT), or
    ``key_position``, m_k p (the paper's code, BLOOM), of which row 1 is the slopes."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""


@dataclass(frozen=True)
class RelativeBuckets:
    """Buckets that relative positions fall into (T5; Raffel et al. 2020): rows of one int32.

    Row r, r = key's position - query's position, is the row of the model's own table of
    biases. With B buckets a side (num_buckets, half of it if bidirectional) and E =
    floor(B/2), a distance n has bucket n if n < E, else
    E + min(B-1-E, floor((B-E) ln(n/E) / ln(max_distance/E))). Bidirectional: n = abs(r),
    and B more where r > 0. Else n = max(-r, 0). At positions -2**53 ... 2**53, no real
    ones.
    """

    num_buckets: int = 32
    """4 ... 8192, from 2 on if not bidirectional."""
    max_distance: int = 128
    """Above E, at most 2**53."""
    bidirectional: bool = True
    """True for encoders, False for decoders."""
    element_type: str = "int32"
    """``int32``."""


Spec = Union[Sinusoidal, Rotary, LearnedInit, LearnedTable, Timestep, NoPosition, Alibi,
             RelativeBuckets]


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
        if isinstance(value, (str, bytes, bytearray)):  # which float would read
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # of tensors, the last
        raise field_error(InvalidArgument, field, f"{value!r} is not a real number") from None
