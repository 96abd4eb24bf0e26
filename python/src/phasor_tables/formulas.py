"""The sinusoidal table by three functions, computed in this process."""

from __future__ import annotations

from typing import Any

import numpy as np

from phasor_tables import local
from phasor_tables._elements import Array, array_of


def sinusoidal_freqs(d: int, base: float = 10000.0) -> Array:
    """The angular frequencies base**(-2i/d), radians per position, float64 [d/2].

    Each is correctly rounded; an array of the caller's own.

    **Errors**: InvalidArgument for an odd d, one outside 2 ... 65536, a base
    that is not above 1 and at most 2**64.
    """
    return np.array(local.sinusoidal(d, base).frequencies(), subok=False)


def sinusoidal_pe(T: int, d: int, base: float = 10000.0, offset: int = 0) -> Array:
    """Rows offset ... offset+T-1 of the sinusoidal table, float32 [T, d].

    ``pe[p - offset, 2i] = sin(p * w_i)`` and ``pe[p - offset, 2i+1] = cos(p * w_i)``,
    w_i = base**(-2i/d), each correctly rounded; an array of the caller's own.

    **Errors**: as sinusoidal_freqs; InvalidArgument for a T below 0; OutOfRange
    for positions past +-2**53.
    """
    table = local.sinusoidal(d, base)
    return np.array(table.read(offset, T), subok=False)


def shift_pe(pe: Any, k: float, d: int, base: float = 10000.0) -> Array:
    """Turns rows of the sinusoidal table into those ``k`` positions on, [..., d].

    Pair i is rotated by -k * w_i, whatever the row's own position; each element is
    the correctly rounded value of the exact rotation of the numbers given. ``pe``
    is float32 (or float64, float16: the result is of the same type); k is any
    int64, or any finite float, taken exactly. An array of the caller's own.

    **Errors**: as sinusoidal_freqs; InvalidArgument for rows of another width or
    type, NaN or infinities in them, a k that is not finite.
    """
    rows = array_of("data", pe)
    types = {"<f8": "float64", "<f2": "float16"}
    table = local.sinusoidal(d, base, element_type=types.get(rows.dtype.str, "float32"))
    return np.array(table.shift(rows, k), subok=False)
