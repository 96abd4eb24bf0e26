"""Rows, against the formulas in mpmath: here, from a server, and both at once."""

import numpy as np
import pytest

import exact_tables
import phasor_tables
from conftest import values
from exact_tables import assert_same_bits
from phasor_tables import local


@pytest.mark.parametrize("element_type", exact_tables.FORMATS)
@pytest.mark.parametrize("start", [0, -3, 1_000_003, 2**53 - 5])
def test_sinusoidal_rows_are_the_rounded_formula(opener, element_type, start):
    table = opener.sinusoidal(width=8, element_type=element_type)
    expected = exact_tables.sinusoidal(range(start, start + 5), 8, element_type)
    assert_same_bits(values(table.read(start, 5), element_type), expected)


@pytest.mark.parametrize("layout", exact_tables.LAYOUTS)
def test_every_layout(opener, layout):
    table = opener.sinusoidal(width=6, layout=layout)
    expected = exact_tables.sinusoidal(range(3), 6, layout=layout)
    assert table.row_width == expected.shape[1]
    assert_same_bits(values(table.read(0, 3)), expected)


@pytest.mark.parametrize("ladder", [
    dict(base=500000.0),
    dict(ladder="inclusive"),
    dict(ladder="downscaled", downscale_shift=1.0),
    dict(downscale_shift=0.5),
    dict(frequencies=[1.0, 0.25, 0.0, 1e-5]),
])
def test_every_ladder(opener, ladder):
    table = opener.sinusoidal(width=8, **ladder)
    oracle = dict(ladder)
    if "frequencies" in oracle:
        oracle = dict(ladder="explicit", explicit=oracle["frequencies"])
    elif "downscale_shift" in oracle:
        oracle["ladder"] = "downscaled"
    assert_same_bits(values(table.read(7, 4)), exact_tables.sinusoidal(range(7, 11), 8, **oracle))
    expected = [float(w) for w in exact_tables.frequencies(8, **oracle)]
    assert np.array(table.frequencies()).tolist() == expected


def test_offset_and_zero_row(opener):
    table = opener.sinusoidal(width=4, position_offset=2, zero_row=1)
    expected = exact_tables.sinusoidal(range(-2, 3), 4, position_offset=2, zero_row=1)
    assert_same_bits(values(table.read(-2, 5)), expected)


@pytest.mark.parametrize("element_type", exact_tables.FORMATS)
def test_learned_rows_are_the_documented_draws(opener, element_type):
    table = opener.learned_init(max_positions=9, width=3, stddev=0.5, seed=-7, stream=54,
                                element_type=element_type)
    expected = exact_tables.learned_init(9, 3, element_type, 0.5, -7, 54)
    assert_same_bits(values(table.read(0, 9), element_type), expected)
    assert (table.first_position, table.last_position) == (0, 8)


def test_seeds_and_streams_are_honoured(opener):
    tables = [opener.learned_init(4, 4, seed=seed, stream=stream).read(0, 4).tobytes()
              for seed, stream in ((0, 0), (1, 0), (0, 1))]
    assert len(set(tables)) == 3


def test_server_and_process_agree_over_long_ranges(client):
    for spec in (phasor_tables.Sinusoidal(512), phasor_tables.LearnedInit(5000, 129, seed=3)):
        assert client.open(spec).read(100, 4900).tobytes() == local.open(spec).read(
            100, 4900).tobytes()


@pytest.mark.parametrize("start, count", [(0, 1), (5, 600), (511, 2), (4000, 1000), (0, 5000),
                                          (-700, 1400)])
def test_any_range_is_a_part_of_a_longer_one(opener, start, count):
    table = opener.sinusoidal(width=512)
    whole = table.read(-1000, 7000)
    for _ in range(2):  # from a block that is there, too
        assert np.array_equal(table.read(start, count), whole[start + 1000:start + 1000 + count])


def test_gather_gives_the_rows_asked_for(opener):
    table = opener.sinusoidal(width=4)
    positions = [5, -2**53, 5, 2**53, 0]
    expected = exact_tables.sinusoidal(positions, 4)
    assert_same_bits(values(table.gather(positions)), expected)
    shaped = table.gather(np.array(positions[:4], np.int64).reshape(2, 2))
    assert shaped.shape == (2, 2, 4)
    assert_same_bits(values(shaped.reshape(4, 4)), expected[:4])


def test_gather_takes_lists_of_integers_exactly_whatever_their_kind(opener):
    table = opener.sinusoidal(width=4)
    positions = [np.uint64(2**53), np.int8(-3), 2**53 - 1, np.int64(-2**53)]
    expected = exact_tables.sinusoidal([int(p) for p in positions], 4)
    for given in (positions, tuple(positions), np.array(positions, object).tolist()):
        assert_same_bits(values(table.gather(given)), expected)
    assert_same_bits(values(table.gather([positions[:2], positions[2:]]).reshape(4, 4)), expected)
    learned = opener.learned_init(9, 4)  # which has no real positions
    assert np.array_equal(learned.gather([np.uint64(8), 1]), learned.read(0, 9)[[8, 1]])
    assert_same_bits(values(table.gather([1, 0.5])), exact_tables.sinusoidal([1, 0.5], 4))


@pytest.mark.parametrize("step", [1, -1, 4])
def test_a_shift_into_memory_that_overlaps_its_rows(opener, step):
    table = opener.sinusoidal(width=256)
    memory = np.zeros((6010, 256), np.float32)  # more than one message
    rows, out = memory[4:6004], memory[4 + step:6004 + step]
    table.read(0, 6000, out=rows)
    expected = table.shift(rows.copy(), 3)
    assert table.shift(rows, 3, out=out) is out
    assert np.array_equal(out, expected)


def test_gather_takes_real_positions_exactly(opener):
    table = opener.sinusoidal(width=4)
    positions = [0.5, 1e-3, 2.0**40 + 0.25]
    assert_same_bits(values(table.gather(positions)), exact_tables.sinusoidal(positions, 4))


def test_gather_from_blocks_in_memory_gives_the_same(opener):
    table = opener.sinusoidal(width=64)
    rng = np.random.default_rng(1)
    near = rng.integers(0, 900, 300)
    far = rng.integers(-20_000, 20_000, 300)
    for positions in (near, far):
        expected = table.gather(positions).copy()  # not from memory
        for position in positions:
            table.read(position, 1)
        before = table._table.session.counters()
        out = np.empty_like(expected)
        assert np.array_equal(table.gather(positions), expected)
        assert table.gather(positions, out=out) is out
        assert np.array_equal(out, expected)
        assert table._table.session.counters().rpcs == before.rpcs


def test_a_block_that_gathers_use_is_kept(server):
    rows = 128  # of 2 KiB in a block of 256 KiB; two blocks are kept
    with phasor_tables.Client(server.address, block_cache_bytes=2 * rows * 2048) as client:
        table = client.sinusoidal(width=512)
        table.read(0, 1)
        table.read(rows, 1)
        table.gather([5, 6])  # the first block is then the one used last
        table.read(2 * rows, 1)
        before = client.counters()
        table.gather([7, 2 * rows + 3])
        after = client.counters()
        assert (after.rpcs, after.block_hits) == (before.rpcs, before.block_hits + 1)
        table.gather([rows])  # was given up
        assert client.counters().rpcs == before.rpcs + 1


def test_gather_of_more_than_a_message(client):
    table = client.sinusoidal(width=512)
    positions = np.arange(0, 3_000_000, 1000)  # 6 MB of rows
    assert table.gather(positions).tobytes() == local.sinusoidal(512).gather(positions).tobytes()


def test_nothing_is_a_valid_range(opener):
    table = opener.learned_init(4, 3)
    assert table.read(4, 0).shape == (0, 3)
    assert table.gather([]).shape == (0, 3)


@pytest.mark.parametrize("k", [1, -3, 0.5, 10**6])
def test_shift_is_a_rotation_of_the_numbers_given(opener, k):
    import mpmath
    table = opener.sinusoidal(width=4)
    rows = table.read(10, 2)
    expected = []
    for row in values(rows):
        turned = []
        for pair, w in enumerate(exact_tables.frequencies(4)):
            s, c = (mpmath.mpf(x) for x in row[2 * pair:2 * pair + 2])
            a = mpmath.mpf(k) * w
            turned += [s * mpmath.cos(a) + c * mpmath.sin(a), c * mpmath.cos(a) - s * mpmath.sin(a)]
        expected.append([exact_tables.rounded(x, "float32") for x in turned])
    assert_same_bits(values(table.shift(rows, k)), np.array(expected))


def test_shift_in_place_and_of_any_shape(opener):
    table = opener.sinusoidal(width=4)
    rows = np.array(table.read(0, 6), subok=False).reshape(2, 3, 4)
    expected = table.shift(rows, 2)
    assert expected.shape == (2, 3, 4)
    assert table.shift(rows, 2, out=rows) is rows
    assert np.array_equal(rows, expected)
    assert np.array_equal(table.shift(rows, 0), rows)


def test_shift_of_more_than_a_message(client):
    table = client.sinusoidal(width=512)
    rows = table.read(0, 3000)
    assert table.shift(rows, 5).tobytes() == local.sinusoidal(512).shift(rows, 5).tobytes()


def test_fingerprints_are_the_published_ones(opener):
    table = opener.sinusoidal(512, 500000.0, element_type="float16")
    assert table.fingerprint == "96642caa3007aca78620105378d9461e"  # proto/README.md


def test_cursors_walk_the_rows(opener):
    table = opener.sinusoidal(width=512)
    expected = table.read(1000, 700)
    cursors = [table.cursor(1000), table.cursor(1003)]
    for step in range(690):
        for cursor, ahead in zip(cursors, (0, 3)):
            assert np.array_equal(cursor.next(), expected[step + ahead])
    assert cursors[0].position == 1690
    cursors[0].seek(1001)
    assert np.array_equal(next(cursors[0]), expected[1])


def test_cursors_end_where_the_table_does_and_not_before(opener):
    table = opener.learned_init(max_positions=300, width=1000)
    assert sum(1 for _ in table.cursor(120)) == 180
    cursor = table.cursor(299)
    cursor.next()
    with pytest.raises(phasor_tables.errors.OutOfRange) as raised:
        cursor.next()
    assert raised.value.field == "start_position" and cursor.position == 300


def test_cursors_share_blocks_and_read_ahead(client):
    table = client.sinusoidal(width=512)
    cursors = [table.cursor(i) for i in range(8)]
    for _ in range(1000):
        for cursor in cursors:
            cursor.next()
    # 1008 rows are 8 blocks of 128; one more may be on its way.
    assert client.counters().rpcs <= 1 + 9
