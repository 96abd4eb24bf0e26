"""Tables by another method than the tool's: the formulas of the position table
in mpmath, far more precise than any element, then one rounding of the exact
number that came out."""

import math
from fractions import Fraction

import mpmath
import numpy as np

mpmath.mp.prec = 400

# significant bits, exponent of the last bit of a subnormal
FORMATS = {
    "float64": (53, -1074),
    "float32": (24, -149),
    "float16": (11, -24),
    "bfloat16": (8, -133),
}
NPY_TYPES = {"float64": "<f8", "float32": "<f4", "float16": "<f2", "bfloat16": "<u2"}
LAYOUTS = (
    "sin_cos_interleaved",
    "sin_cos_halves",
    "cos_sin_halves",
    "cos_sin_interleaved",
    "cos_sin_duplicated_halves",
    "cos_sin_duplicated_pairs",
    "cos_only",
    "sin_only",
)


def exact(x):
    """An mpf as the fraction that it is."""
    sign, man, exp, _ = x._mpf_
    return Fraction(-man if sign else man) * Fraction(2) ** exp


def rounded(x, element_type):
    """The mpf x rounded once to nearest, ties to even, as a float."""
    if x == 0:
        return 0.0
    bits, lowest = FORMATS[element_type]
    quantum = max(int(mpmath.floor(mpmath.log(abs(x), 2))) - bits + 1, lowest)
    if abs(exact(x)) >= Fraction(2) ** (quantum + bits):  # log2 was just below
        quantum += 1
    steps = round(exact(x) / Fraction(2) ** quantum)  # Python rounds halves to even
    return math.copysign(float(abs(steps) * Fraction(2) ** quantum), float(mpmath.sign(x)))


def frequencies(width, base=10000.0, ladder="paper", downscale_shift=0.0, explicit=None):
    h = width // 2
    if ladder == "explicit":
        return [mpmath.mpf(w) for w in explicit]
    if ladder == "inclusive" and h == 1:
        return [mpmath.mpf(1)]
    over = {"paper": mpmath.mpf(h), "inclusive": mpmath.mpf(h - 1)}.get(
        ladder, h - mpmath.mpf(downscale_shift)
    )
    return [mpmath.power(mpmath.mpf(base), -mpmath.mpf(i) / over) for i in range(h)]


def arranged(sines, cosines, layout):
    pairs = list(zip(sines, cosines))
    return {
        "sin_cos_interleaved": lambda: [x for s, c in pairs for x in (s, c)],
        "sin_cos_halves": lambda: sines + cosines,
        "cos_sin_halves": lambda: cosines + sines,
        "cos_sin_interleaved": lambda: [x for s, c in pairs for x in (c, s)],
        "cos_sin_duplicated_halves": lambda: cosines + cosines + sines + sines,
        "cos_sin_duplicated_pairs": lambda: [c for c in cosines for _ in "ab"]
        + [s for s in sines for _ in "ab"],
        "cos_only": lambda: cosines,
        "sin_only": lambda: sines,
    }[layout]()


def sinusoidal(positions, width, element_type="float32", layout="sin_cos_interleaved",
               position_offset=0, zero_row=None, **ladder):
    """Rows at positions, as a float64 array of the elements' values."""
    ws = frequencies(width, **ladder)
    rows = []
    for position in positions:
        p = mpmath.mpf(position) + position_offset
        sines = [mpmath.sin(p * w) for w in ws]
        cosines = [mpmath.cos(p * w) for w in ws]
        row = [rounded(x, element_type) for x in arranged(sines, cosines, layout)]
        rows.append([0.0] * len(row) if zero_row is not None and p == zero_row else row)
    return np.array(rows, dtype=np.float64)


def pcg32(seed, stream, count):
    """The first outputs of O'Neill's PCG32 (XSH-RR 64/32)."""
    mask = 2**64 - 1
    inc = (2 * stream + 1) & mask
    step = lambda state: (state * 6364136223846793005 + inc) & mask
    state = step((step(0) + seed) & mask)
    outputs = []
    for _ in range(count):
        shifted = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF
        turn = state >> 59
        outputs.append(((shifted >> turn) | (shifted << (-turn & 31))) & 0xFFFFFFFF)
        state = step(state)
    return outputs


def learned_init(count, width, element_type="float32", stddev=0.02, seed=0, stream=0):
    """Rows 0 ... count-1."""
    size = count * width
    outputs = pcg32(seed, stream, size + 2)
    values = []
    for n in range(size):
        m = n // 2
        u = (outputs[2 * m] + mpmath.mpf(0.5)) / 2**32
        v = (outputs[2 * m + 1] + mpmath.mpf(0.5)) / 2**32
        turn = mpmath.sinpi if n % 2 else mpmath.cospi
        values.append(rounded(mpmath.mpf(stddev) * mpmath.sqrt(-2 * mpmath.log(u)) * turn(2 * v),
                              element_type))
    return np.array(values, dtype=np.float64).reshape(count, width)


def values_of(array, element_type):
    """The elements of an array read from a file, as float64."""
    assert array.dtype.str == NPY_TYPES[element_type]
    if element_type == "bfloat16":
        array = (array.astype("<u4") << 16).view("<f4")
    return array.astype(np.float64)


def assert_same_bits(got, expected):
    """Equal, and zeros of the same sign."""
    assert got.shape == expected.shape
    assert np.array_equal(got.view(np.uint64), expected.view(np.uint64))
