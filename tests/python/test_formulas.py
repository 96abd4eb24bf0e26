"""The table by three functions: the course's properties, and the formula in mpmath."""

import numpy as np
import pytest

import exact_tables
from conftest import values
from exact_tables import assert_same_bits
from phasor_tables import errors, local, shift_pe, sinusoidal_freqs, sinusoidal_pe

ULP = 2.0**-23


def test_worked_example():
    freqs = sinusoidal_freqs(4)
    assert (freqs.dtype, freqs.tolist()) == (np.float64, [1.0, 0.01])
    pe = sinusoidal_pe(3, 4)
    assert (pe.dtype, pe.shape) == (np.float32, (3, 4))
    expected = [[0, 1, 0, 1], [0.841471, 0.540302, 0.010000, 0.999950],
                [0.909297, -0.416147, 0.019999, 0.999800]]
    assert np.abs(pe - expected).max() < 1e-6
    assert np.abs(shift_pe(pe[1], 1, 4) - pe[2]).max() <= ULP


@pytest.mark.parametrize("d, base, offset", [(512, 10000.0, 0), (64, 500000.0, 131_072),
                                             (2, 10000.0, 2**53 - 9), (6, 2.0, -4)])
def test_rows_are_the_rounded_formula(d, base, offset):
    assert_same_bits(values(sinusoidal_pe(6, d, base, offset)),
                     exact_tables.sinusoidal(range(offset, offset + 6), d, base=base))
    assert sinusoidal_freqs(d, base).tolist() == [
        float(w) for w in exact_tables.frequencies(d, base)]


def test_an_offset_gives_the_tail_of_a_longer_table():
    whole = sinusoidal_pe(3000, 32)
    for offset, T in ((2999, 1), (100, 50), (0, 3000), (1234, 700)):
        assert np.array_equal(sinusoidal_pe(T, 32, offset=offset), whole[offset:offset + T])


def test_pairs_are_on_the_unit_circle_and_rows_differ():
    pe = sinusoidal_pe(4096, 64).astype(np.float64)
    assert np.abs(pe[:, ::2]**2 + pe[:, 1::2]**2 - 1).max() < 4 * ULP
    assert len({row.tobytes() for row in pe}) == 4096


def test_products_of_rows_depend_on_their_distance_alone():
    pe = sinusoidal_pe(2000, 64).astype(np.float64)
    for k in (1, 17, 300):
        expected = np.cos(k * sinusoidal_freqs(64)).sum()
        assert np.abs((pe[:-k] * pe[k:]).sum(1) - expected).max() < 64 * ULP


@pytest.mark.parametrize("k", [1, -5, 0.25, 1000])
def test_a_shift_is_one_rotation_for_every_row(k):
    pe = sinusoidal_pe(100, 16, offset=5000)
    expected = values(local.sinusoidal(16).gather(np.arange(5000, 5100) + float(k)))
    assert np.abs(shift_pe(pe, k, 16) - expected).max() <= 2 * ULP
    assert np.array_equal(shift_pe(pe, 0, 16), pe)


def test_a_shift_uses_the_base_it_is_given():
    pe = sinusoidal_pe(1, 4, 100.0, offset=3)
    assert np.abs(shift_pe(pe, 2, 4, 100.0) - sinusoidal_pe(1, 4, 100.0, offset=5)).max() <= ULP


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_a_shift_keeps_the_type(dtype):
    pe = sinusoidal_pe(3, 4).astype(dtype)
    assert shift_pe(pe, 1, 4).dtype == dtype


def test_arrays_are_the_callers_own():
    for array in (sinusoidal_pe(3, 4), sinusoidal_freqs(4), shift_pe(sinusoidal_pe(3, 4), 1, 4)):
        assert type(array) is np.ndarray
        array += 1
    assert sinusoidal_pe(1, 4).tolist() == [[0, 1, 0, 1]]


@pytest.mark.parametrize("call", [
    lambda d, base: sinusoidal_freqs(d, base),
    lambda d, base: sinusoidal_pe(3, d, base),
    lambda d, base: shift_pe(np.zeros((1, d), np.float32), 1, d, base),
])
@pytest.mark.parametrize("d, base, field", [(3, 10000.0, "width"), (4, 1.0, "base"),
                                            (4, 0.5, "base"), (4, -10000.0, "base")])
def test_odd_widths_and_small_bases_are_refused(call, d, base, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        call(d, base)
    assert raised.value.field == "spec.sinusoidal." + field


def test_counts_and_positions_that_are_not():
    with pytest.raises(errors.InvalidArgument):
        sinusoidal_pe(-1, 4)
    with pytest.raises(errors.OutOfRange):
        sinusoidal_pe(2, 4, offset=2**53)
    assert sinusoidal_pe(0, 4).shape == (0, 4)
