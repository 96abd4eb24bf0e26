"""The schemes beside sinusoidal, rotary and learned tables, and the sinusoidal's odd widths and
timescales: against the formulas in mpmath and published values; here, and from a server."""

import asyncio
import json

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import exact_tables
import phasor_tables
from conftest import TESTS, values
from exact_tables import assert_same_bits, rounded
from phasor_tables import Alibi, NoPosition, RelativeBuckets, Sinusoidal, Timestep, aio, local

GOLDEN = json.loads((TESTS / "golden" / "schemes.json").read_text())
REALS = [0.0, 1.0, -0.5, 999.0, 2.0**40 + 0.25]


def rows_of(ladder, positions, arranged, element_type="float32"):
    """Rows of correctly rounded elements: ``arranged`` makes one of sines and cosines."""
    result = []
    for position in positions:
        angles = [mpf(position) * w for w in ladder]
        row = arranged([mpmath.sin(a) for a in angles], [mpmath.cos(a) for a in angles])
        result.append([rounded(mpf(x), element_type) for x in row])
    return np.array(result)


def timestep(spec, positions):
    h = spec.width // 2
    ladder = [mpf(spec.scale) * mpmath.power(mpf(spec.max_period),
                                             -mpf(i) / (h - mpf(spec.downscale_freq_shift)))
              for i in range(h)]
    zero = [0] * (spec.width % 2)
    return rows_of(ladder, positions, lambda s, c: (c + s if spec.flip_sin_to_cos else s + c) + zero,
                   spec.element_type)


@pytest.mark.parametrize("element_type", exact_tables.FORMATS)
@pytest.mark.parametrize("fields", [
    dict(width=8, downscale_freq_shift=0), dict(width=9, downscale_freq_shift=1),
    dict(width=6, downscale_freq_shift=0.25, max_period=500.0, scale=1000, flip_sin_to_cos=True),
], ids=["shift 0", "odd", "all set"])
def test_timesteps_are_the_rounded_formula(opener, fields, element_type):
    spec = Timestep(**fields, element_type=element_type)
    table = opener.open(spec)
    assert (table.row_width, table.attention_factor) == (spec.width, 1.0)
    assert_same_bits(values(table.gather(REALS), element_type), timestep(spec, REALS))
    assert_same_bits(values(table.read(999, 2), element_type), timestep(spec, [999, 1000]))


@pytest.mark.parametrize("layout", exact_tables.LAYOUTS)
def test_rows_that_turn_nothing(opener, layout):
    table = opener.none(6, layout=layout)
    expected = exact_tables.arranged([0.0] * 3, [1.0] * 3, layout)
    assert table.read(-2**53, 2).tolist() == [expected] * 2
    assert table.gather([0.5]).tolist() == [expected]


@pytest.mark.parametrize("element_type", exact_tables.FORMATS)
def test_rows_that_add_nothing(opener, element_type):
    table = opener.none(7, additive=True, element_type=element_type)
    assert table.gather([5, -2**53, 2**53]).tobytes() == bytes(3 * 7 * table.dtype.itemsize)


@pytest.mark.parametrize("heads", GOLDEN["alibi"])
def test_slopes_of_alibi_are_the_golden_ones(opener, heads):
    table = opener.alibi(int(heads), form="key_position", element_type="float64")
    assert table.read(1, 1)[0].tolist() == [float(slope) for slope in GOLDEN["alibi"][heads]]


def test_biases_of_alibi(opener):
    slopes = [mpf(slope) for slope in GOLDEN["alibi_mpt_bias_max_16_n6"]]
    table = opener.alibi(6, bias_max=16.0)
    positions = [3, -3, 2**53, 0.1]
    expected = [[rounded(-m * abs(mpf(p)), "float32") for m in slopes] for p in positions]
    assert_same_bits(values(table.gather(positions)), np.array(expected))
    assert table.attention_factor == 0.0
    keys = opener.alibi(6, bias_max=16.0, form="key_position")
    assert_same_bits(values(keys.read(-3, 1)), np.array(expected[1:2]))


@pytest.mark.parametrize("name, bidirectional", [("t5_bidir_32_128", True),
                                                 ("t5_causal_32_128", False)])
def test_buckets_are_the_golden_ones(opener, name, bidirectional):
    table = opener.relative_buckets(bidirectional=bidirectional)
    assert (table.dtype, table.row_width, table.element_type) == (np.int32, 1, "int32")
    positions = [int(position) for position in GOLDEN[name]]
    assert table.gather(positions)[:, 0].tolist() == list(GOLDEN[name].values())
    out = np.zeros((3, 1), np.int32)
    assert table.read(-20, 3, out=out) is out
    assert out[0, 0] == GOLDEN[name]["-20"]


@pytest.mark.parametrize("position, number", [(-1, 1), (-3, 2), (-10**6, 3), (2, 0)])
def test_buckets_of_other_sizes(opener, position, number):
    # B = 4, E = 2: 2 + min(1, floor(2 ln(n/2) / ln(8))).
    table = opener.relative_buckets(num_buckets=4, max_distance=16, bidirectional=False)
    assert table.gather([position])[0, 0] == number


@pytest.mark.parametrize("layout", exact_tables.LAYOUTS[:4])
@pytest.mark.parametrize("odd_column", ["zero", "sine"])
def test_odd_widths(opener, odd_column, layout):
    table = opener.sinusoidal(7, odd_column=odd_column, layout=layout)
    h = 4 if odd_column == "sine" else 3
    exponent = mpf(7) / 2 if odd_column == "sine" else mpf(3)
    ladder = [mpmath.power(10000, -mpf(i) / exponent) for i in range(h)]

    def arranged(sines, cosines):
        row = exact_tables.arranged(sines, cosines[:3] + [None] * (h - 3), layout)
        return [x for x in row if x is not None] + [0] * (4 - h)

    assert_same_bits(values(table.read(131_071, 3)),
                     rows_of(ladder, range(131_071, 131_074), arranged))
    assert np.array(table.frequencies()).tolist() == [float(w) for w in ladder]


@pytest.mark.parametrize("width, fields, least, most", [
    (8, dict(ladder="timescales"), 1, 10000), (8, dict(min_timescale=2.0), 2, 10000),
    (6, dict(min_timescale=0.5, max_timescale=700), 0.5, 700), (2, dict(max_timescale=9), 1, 9)])
def test_the_ladder_of_timescales(opener, width, fields, least, most):
    table = opener.sinusoidal(width, layout="sin_cos_halves", **fields)
    h = width // 2
    ladder = [mpf(least) * mpmath.power(mpf(most) / least, -mpf(i) / max(h - 1, 1)) for i in range(h)]
    assert np.array(table.frequencies()).tolist() == [float(w) for w in ladder]
    assert_same_bits(values(table.read(70_000, 2)),
                     rows_of(ladder, [70_000, 70_001], lambda s, c: s + c))


def test_frequencies_and_rows_of_tensor2tensor_are_the_golden_ones(opener):
    table = opener.sinusoidal(8, ladder="timescales", layout="sin_cos_halves",
                              element_type="float64")
    for got, golden in ((table.frequencies(), GOLDEN["t2t_fairseq_d8_freqs"]),
                        (table.read(1, 1)[0], GOLDEN["t2t_fairseq_d8_pos1"])):
        assert np.array(got) == pytest.approx([float(x) for x in golden], rel=2.0**-52)


SPECS = [
    Timestep(320, 0, flip_sin_to_cos=True), NoPosition(64), NoPosition(3, additive=True), Alibi(112),
    Alibi(12, form="key_position", element_type="bfloat16"), RelativeBuckets(),
    RelativeBuckets(64, 800, False), Sinusoidal(33, odd_column="sine"),
    Sinusoidal(33, odd_column="zero", ladder="timescales", layout="sin_cos_halves"),
]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_server_and_process_agree(server, client, spec):
    there, here = client.open(spec), local.open(spec)
    assert there.fingerprint == here.fingerprint and there.spec == spec
    expected = here.read(-700, 9000)
    assert there.read(-700, 9000).tobytes() == expected.tobytes()
    positions = np.arange(-700, 8300, 31)
    assert there.gather(positions).tobytes() == expected[positions + 700].tobytes()
    assert next(there.cursor(4000)).tobytes() == expected[4700].tobytes()

    async def twin():
        async with aio.Client(server.address) as asyncio_client:
            return (await (await asyncio_client.open(spec)).read(-700, 9000)).tobytes()

    assert asyncio.run(twin()) == expected.tobytes()


def test_shortcuts_open_their_specs(server, opener):
    expected = {
        "timestep": Timestep(6, 1, scale=2.0), "none": NoPosition(6), "alibi": Alibi(6, form="distance"),
        "relative_buckets": RelativeBuckets(bidirectional=False)}

    def opened(opener):
        return {"timestep": opener.timestep(6, 1, scale=2.0), "none": opener.none(6),
                "alibi": opener.alibi(6, form="distance"),
                "relative_buckets": opener.relative_buckets(bidirectional=False)}

    async def twin():
        async with aio.Client(server.address) as client:
            return {name: (await table).spec for name, table in opened(client).items()}

    assert {name: table.spec for name, table in opened(opener).items()} == expected
    assert asyncio.run(twin()) == expected


@pytest.mark.parametrize("spec", [Alibi(8), RelativeBuckets(), NoPosition(8, additive=True)], ids=repr)
def test_tables_without_pairs_have_no_frequencies_and_no_shift(opener, spec):
    table = opener.open(spec)
    for call in (table.frequencies, lambda: table.shift(table.read(0, 1), 1)):
        with pytest.raises(phasor_tables.errors.InvalidArgument) as raised:
            call()
        assert raised.value.field == "spec"


def test_a_bias_that_is_an_infinity_is_no_row(opener):
    table = opener.alibi(8, element_type="float16")
    assert table.last_position == 131_039
    with pytest.raises(phasor_tables.errors.OutOfRange) as raised:
        table.read(131_039, 2)
    assert raised.value.field == "row_count"


def test_buckets_as_tensors():
    torch = pytest.importorskip("torch")
    from phasor_tables.torch import gather, read

    table = local.relative_buckets()
    assert read(table, -2, 5).dtype == torch.int32
    assert read(table, -2, 5)[:, 0].tolist() == [2, 1, 0, 17, 18]
    assert gather(table, torch.tensor([[-20, 20]]))[..., 0].tolist() == [[10, 26]]
