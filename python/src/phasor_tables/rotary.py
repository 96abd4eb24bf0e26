"""Rotary position tables (RoPE), and the ways in which models stretch them.

Fields carry the names of Hugging Face's configuration keys, and are those of
the protocol. h = width/2 pairs; b_i = base**(-i/h), i = 0 ... h-1, is the
frequency before scaling, w_i after it. Formulas are those of transformers'
modeling_rope_utils.py (5.16), over real numbers.

>>> from phasor_tables import Llama3Scaling, local
>>> llama31 = Llama3Scaling(factor=8, low_freq_factor=1, high_freq_factor=4,
...                         original_max_position_embeddings=8192)
>>> local.rotary(width=128, base=500000, scaling=llama31).read(0, 1024)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Union


@dataclass(frozen=True)
class LinearScaling:
    """w_i = b_i / factor: position interpolation (Chen et al. 2023)."""

    factor: float
    """1 ... 2**64."""


@dataclass(frozen=True)
class NtkScaling:
    """w_i = (base * factor**(h/(h-1)))**(-i/h): static NTK-aware scaling.

    The width has to be 4 or more. Hunyuan's key ``alpha`` is this factor.
    """

    factor: float
    """1 ... 2**64."""


@dataclass(frozen=True)
class DynamicNtkScaling:
    """NtkScaling at a given length: its factor is factor * L / M - (factor - 1).

    L = max(sequence_length, M), M = max_position_embeddings. A table never changes
    because somebody else asks for a longer one.
    """

    factor: float
    """1 ... 2**64."""
    max_position_embeddings: int
    """Positions the model was trained for: 1 ... 2**53."""
    sequence_length: int
    """Length of the sequence that the table is for: 1 ... 2**53."""


@dataclass(frozen=True)
class YarnScaling:
    """YaRN (Peng et al. 2023): w_i = b_i ((1 - ramp_i) + ramp_i / factor).

    ramp_i = (i - low) / (high - low), cut to 0 ... 1, with
    low = max(floor(c(beta_fast)), 0), high = min(ceil(c(beta_slow)), width - 1),
    c(beta) = h ln(M / (2 pi beta)) / ln base, M = original_max_position_embeddings;
    high = low + 1/1000 where both are equal. The attention factor is
    1 + ln(factor)/10 or, with both mscales,
    (1 + mscale ln(factor)/10) / (1 + mscale_all_dim ln(factor)/10).
    """

    factor: float
    """1 ... 2**64."""
    original_max_position_embeddings: int
    """Positions before the model was stretched: 1 ... 2**53."""
    beta_fast: Optional[float] = None
    """Turns above which a pair stays as it is: beta_slow ... 2**32; 32 if None."""
    beta_slow: Optional[float] = None
    """Turns below which a pair is interpolated: 2**-32 ... beta_fast; 1 if None."""
    mscale: Optional[float] = None
    """2**-32 ... 2**32; both mscales or neither."""
    mscale_all_dim: Optional[float] = None
    """2**-32 ... 2**32; both mscales or neither."""
    truncate: bool = True
    """Whether low and high are whole numbers; without floor and ceil if not."""


@dataclass(frozen=True)
class LongRopeScaling:
    """LongRoPE (Ding et al. 2024): w_i = b_i / e_i.

    e is long_factor where sequence_length > original_max_position_embeddings, else
    short_factor. The attention factor is sqrt(1 + ln(factor) / ln(M)) for both.
    """

    short_factor: Sequence[float]
    """h values, each 2**-32 ... 2**64."""
    long_factor: Sequence[float]
    """h values, each 2**-32 ... 2**64."""
    original_max_position_embeddings: int
    """M, positions before the model was stretched: 2 ... 2**53."""
    sequence_length: int
    """Length of the sequence that the table is for: 1 ... 2**53."""
    factor: Optional[float] = None
    """1 ... 2**64. Required unless the attention factor is given, the only thing
    that depends on it."""


@dataclass(frozen=True)
class Llama3Scaling:
    """Llama 3.1 and later: w_i = b_i ((1 - g_i) / factor + g_i).

    g_i = (turns_i - low_freq_factor) / (high_freq_factor - low_freq_factor), cut to
    0 ... 1; turns_i = original_max_position_embeddings * b_i / (2 pi).
    """

    factor: float
    """1 ... 2**64."""
    low_freq_factor: float
    """2**-32 ... 2**32."""
    high_freq_factor: float
    """Above low_freq_factor, at most 2**32."""
    original_max_position_embeddings: int
    """1 ... 2**53."""


@dataclass(frozen=True)
class ProportionalScaling:
    """Proportional RoPE (Gemma 4): the slow pairs rest.

    w_i = b_i / factor for the first floor(partial_rotary_factor * width / 2) pairs,
    0 for the others; the width is the whole head's. (An ordinary partial rotary
    width is a smaller ``width``, which changes the exponents too.)
    """

    partial_rotary_factor: Optional[float] = None
    """Above 0, at most 1; 1 if None."""
    factor: Optional[float] = None
    """1 ... 2**64; 1 if None."""


Scaling = Union[LinearScaling, NtkScaling, DynamicNtkScaling, YarnScaling, LongRopeScaling,
                Llama3Scaling, ProportionalScaling]


@dataclass(frozen=True)
class Rotary:
    """Cosines and sines that turn queries and keys (Su et al. 2021).

    Pair i of row p is (a cos(p * w_i), a sin(p * w_i)), at positions -2**53 ...
    2**53. Nothing is checked before the table is opened.
    """

    width: int
    """Rotary width, h pairs: even, 2 ... 65536."""
    base: Optional[float] = None
    """1 < base <= 2**64; 10000 if None, and None beside explicit frequencies."""
    scaling: Optional[Scaling] = None
    """What is made of the frequencies b_i: w_i = b_i if None."""
    attention_factor: Optional[float] = None
    """a: 2**-64 ... 2**64; as the scaling says if None, 1 but for YaRN and LongRoPE.
    Scores of attention are multiplied by its square."""
    layout: str = "cos_sin_halves"
    """Where sines and cosines stand in a row, as :class:`phasor_tables.Sinusoidal`
    has it: ``cos_sin_duplicated_halves`` is a row of cosines and one of sines as
    half-split models take them, ``cos_sin_duplicated_pairs`` as interleaved ones."""
    mrope_section: Sequence[int] = ()
    """How many of the pairs take each axis: 2 ... 8 axes, h in all (M-RoPE; Wang et
    al. 2024). Rows may then have a position an axis; one position is that on all
    axes, which is ordinary RoPE."""
    mrope_interleaved: bool = False
    """Three axes only. False: the pairs of an axis stand together, axis 0 first
    (Qwen2-VL). True: pair i takes axis i mod 3 where that axis, 1 or 2, has pairs
    left, else axis 0 (Qwen3-VL)."""
    frequencies: Optional[Sequence[float]] = None
    """h of them, each 0 or 2**-64 <= abs(w) <= 2**32, in place of base and scaling."""
    element_type: str = "float32"
    """``float32``, ``float64``, ``float16`` or ``bfloat16``."""
