"""What kind of arrays come back, and what `out` may be."""

import numpy as np
import pytest

from phasor_tables import Rows, errors, local


@pytest.mark.parametrize("read", [
    lambda t: t.read(0, 3), lambda t: t.read(0, 5000), lambda t: t.gather([1, 2]),
    lambda t: t.shift(t.read(0, 2), 1), lambda t: t.frequencies(), lambda t: t.cursor(0).next(),
])
def test_results_are_read_only_arrays(opener, read):
    rows = read(opener.sinusoidal(width=64))
    assert isinstance(rows, np.ndarray) and not rows.flags.writeable
    with pytest.raises(ValueError):
        rows[0] = 1
    with pytest.raises(ValueError):
        rows.flags.writeable = True


def test_what_is_computed_from_rows_is_an_ordinary_array():
    rows = local.sinusoidal(4).read(0, 3)
    assert isinstance(rows, Rows)
    for computed in (rows + 1, np.sin(rows), rows @ np.ones(4, np.float32)):
        assert type(computed) is np.ndarray and computed.flags.writeable
    assert isinstance(rows.sum(), np.float32)


def test_one_message_is_not_copied(client):
    table = client.sinusoidal(width=512)
    rows = table.gather(np.arange(100))
    base = rows
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    assert isinstance(base, bytes)  # what grpcio received


@pytest.mark.parametrize("count", [3, 700, 9000])
def test_out_is_filled_and_given_back(opener, count):
    table = opener.sinusoidal(width=128)
    out = np.full((count + 2, 128), 7, np.float32)
    assert table.read(50, count, out=out[1:-1]).base is out
    assert (out[0] == 7).all() and (out[-1] == 7).all()
    assert np.array_equal(out[1:-1], table.read(50, count))


@pytest.mark.parametrize("out", [
    np.empty((3, 4), np.float64), np.empty((4, 4), np.float32), np.empty((3, 5), np.float32),
    np.empty((4, 3), np.float32).T, np.frombuffer(bytes(48), np.float32).reshape(3, 4),
    [[0.0] * 4] * 3,
])
def test_out_that_does_not_fit_is_refused(opener, out):
    with pytest.raises(errors.InvalidArgument) as raised:
        opener.sinusoidal(width=4).read(0, 3, out=out)
    assert raised.value.field == "out"


def test_bfloat16_is_ml_dtypes_or_its_bits(opener):
    table = opener.sinusoidal(width=2, element_type="bfloat16")
    try:
        import ml_dtypes
        assert table.dtype == ml_dtypes.bfloat16
    except ImportError:
        assert table.dtype == np.uint16
    bits = np.empty((2, 2), np.uint16)
    table.read(0, 2, out=bits)
    assert bits.tolist() == [[0, 0x3F80], [0x3F57, 0x3F0A]]
    rows = table.read(0, 2)
    assert rows.view(np.uint16).tolist() == bits.tolist()
    for given in (rows, bits):
        assert table.shift(given, 0).view(np.uint16).tolist() == bits.tolist()


def test_rows_are_taken_over_by_dlpack_and_stay_as_they_are():
    rows = local.sinusoidal(4).read(0, 3)
    before = rows.tobytes()

    class Consumer:  # of the first version of the protocol, which knows no read-only
        def __dlpack__(self, stream=None):
            return rows.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return rows.__dlpack_device__()

    taken = np.from_dlpack(Consumer())
    assert taken.tobytes() == before
    assert not np.shares_memory(taken, rows)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.shares_memory(np.from_dlpack(rows), rows)


def test_jax_takes_rows_over_by_dlpack():
    jax = pytest.importorskip("jax")
    rows = local.sinusoidal(4).read(0, 3)
    taken = jax.dlpack.from_dlpack(rows)
    assert np.array_equal(np.asarray(taken), rows)


def test_many_threads_read_one_table(client):
    import concurrent.futures
    table = client.sinusoidal(width=256)
    expected = local.sinusoidal(256).read(0, 3000)

    def work(seed):
        for position in np.random.default_rng(seed).integers(0, 2900, 50).tolist():
            assert np.array_equal(table.read(position, 90), expected[position:position + 90])
            some = [position, 2 * position // 3, position + 89]
            assert np.array_equal(table.gather(some), expected[some])
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))
