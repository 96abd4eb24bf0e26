"""Rotary tables by mpmath: the formulas of phasor_tables.rotary over real numbers, one rounding."""

import mpmath
import numpy as np
from mpmath import mpf

import exact_tables
import phasor_tables as p


def ladder(base, width):
    h = width // 2
    return [mpmath.power(mpf(base), -mpf(i) / h) for i in range(h)]


def ntk(base, width, factor):
    h = mpf(width // 2)
    return ladder(mpf(base) * mpmath.power(factor, h / (h - 1)), width)


def yarn(base, width, s):
    fast, slow = s.beta_fast or 32, s.beta_slow or 1

    def pair(beta):
        turns = s.original_max_position_embeddings / (2 * mpmath.pi * mpf(beta))
        return width * mpmath.log(turns) / (2 * mpmath.log(base))

    low, high = pair(fast), pair(slow)
    if s.truncate:
        low, high = mpmath.floor(low), mpmath.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += mpf(1) / 1000
    ramps = [min(max((i - low) / (high - low), 0), 1) for i in range(width // 2)]
    return [b * (1 - r) + b / mpf(s.factor) * r for b, r in zip(ladder(base, width), ramps)]


def llama3(base, width, s):
    low, high = mpf(s.low_freq_factor), mpf(s.high_freq_factor)
    blends = [(s.original_max_position_embeddings * b / (2 * mpmath.pi) - low) / (high - low)
              for b in ladder(base, width)]
    blends = [min(max(g, 0), 1) for g in blends]
    return [(1 - g) * b / mpf(s.factor) + g * b for b, g in zip(ladder(base, width), blends)]


def frequencies(spec):
    """The angular frequencies of a Rotary, as mpf."""
    base, width, s = mpf(spec.base or 10000), spec.width, spec.scaling
    if spec.frequencies is not None:
        return [mpf(w) for w in spec.frequencies]
    if s is None:
        return ladder(base, width)
    if isinstance(s, p.LinearScaling):
        return [b / mpf(s.factor) for b in ladder(base, width)]
    if isinstance(s, p.NtkScaling):
        return ntk(base, width, mpf(s.factor))
    if isinstance(s, p.DynamicNtkScaling):
        length = max(s.sequence_length, s.max_position_embeddings)
        return ntk(base, width, mpf(s.factor) * length / s.max_position_embeddings
                   - (mpf(s.factor) - 1))
    if isinstance(s, p.YarnScaling):
        return yarn(base, width, s)
    if isinstance(s, p.LongRopeScaling):
        long = s.sequence_length > s.original_max_position_embeddings
        return [b / mpf(e) for b, e in zip(ladder(base, width),
                                           s.long_factor if long else s.short_factor)]
    if isinstance(s, p.Llama3Scaling):
        return llama3(base, width, s)
    assert isinstance(s, p.ProportionalScaling)
    kept = int(mpmath.floor(mpf(s.partial_rotary_factor or 1) * width / 2))
    return [b / mpf(s.factor or 1) if i < kept else mpf(0)
            for i, b in enumerate(ladder(base, width))]


def attention_factor(spec):
    """The attention factor of a Rotary, as mpf."""
    s = spec.scaling
    if spec.attention_factor is not None:
        return mpf(spec.attention_factor)
    if isinstance(s, p.YarnScaling):
        def grown(mscale):
            return 1 + mpf(mscale) * mpmath.log(s.factor) / 10
        return grown(1) if s.mscale is None else grown(s.mscale) / grown(s.mscale_all_dim)
    if isinstance(s, p.LongRopeScaling):
        return mpmath.sqrt(1 + mpmath.log(s.factor)
                           / mpmath.log(s.original_max_position_embeddings))
    return mpf(1)


def rows(spec, positions):
    """Rows at positions, or at one position a pair, as a float64 array of the elements' values."""
    a, result = attention_factor(spec), []
    for position in positions:
        given = position if isinstance(position, list) else [position] * (spec.width // 2)
        angles = [mpf(at) * w for at, w in zip(given, frequencies(spec))]
        sines, cosines = ([a * f(x) for x in angles] for f in (mpmath.sin, mpmath.cos))
        result.append([exact_tables.rounded(x, spec.element_type)
                       for x in exact_tables.arranged(sines, cosines, spec.layout)])
    return np.array(result)
