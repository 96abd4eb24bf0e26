"""Debian's grpcio reads the bytes that the formula gives and the tool computes."""

import math

import grpc
import mpmath
import numpy
import pytest
from google.protobuf import json_format

MIB = 1 << 20

# Flags of the tool, and the same table as a message.
TABLES = {
    "default": (["sinusoidal", "--width=512"], {"sinusoidal": {"width": 512}}),
    "halves": (
        ["sinusoidal", "--width=64", "--layout=sin_cos_halves", "--ladder=inclusive"],
        {"sinusoidal": {"width": 64, "layout": "LAYOUT_SIN_COS_HALVES", "inclusive": {}}},
    ),
    "duplicated": (
        ["sinusoidal", "--width=32", "--layout=cos_sin_duplicated_pairs", "--base=500000",
         "--type=float64"],
        {"sinusoidal": {"width": 32, "layout": "LAYOUT_COS_SIN_DUPLICATED_PAIRS",
                        "base": 500000.0}, "element_type": "ELEMENT_TYPE_FLOAT64"},
    ),
    "downscaled": (
        ["sinusoidal", "--width=320", "--ladder=downscaled", "--downscale_shift=1",
         "--layout=cos_sin_halves", "--type=float16"],
        {"sinusoidal": {"width": 320, "downscaled": {"downscale_shift": 1.0},
                        "layout": "LAYOUT_COS_SIN_HALVES"},
         "element_type": "ELEMENT_TYPE_FLOAT16"},
    ),
    "explicit": (
        ["sinusoidal", "--width=4", "--ladder=explicit", "--frequencies=1,0.01",
         "--position_offset=2", "--zero_row=1", "--type=bfloat16"],
        {"sinusoidal": {"width": 4, "explicit": {"frequencies": [1.0, 0.01]},
                        "position_offset": 2, "zero_row": 1},
         "element_type": "ELEMENT_TYPE_BFLOAT16"},
    ),
    "seeded": (
        ["learned_init", "--max_positions=2147483648", "--width=33", "--stddev=0.5", "--seed=-7",
         "--stream=3"],
        {"learned_init": {"max_positions": 1 << 31, "width": 33, "stddev": 0.5, "seed": -7,
                          "stream": 3}},
    ),
}


def spec_of(v1, fields):
    return json_format.ParseDict(fields, v1.TableSpec())


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("start", [0, 65521])
def test_rows_are_those_computed_without_a_server(stub, v1, local, table, start):
    flags, fields = TABLES[table]
    wanted = local("rows", *flags, f"--start={start}", "--count=37")
    spec = spec_of(v1, fields)
    assert len(wanted) > 0

    rows = stub.GetRows(
        v1.GetRowsRequest(spec=spec, start_position=start, row_count=37)).rows
    assert rows.data == wanted
    assert (rows.start_position, rows.row_count) == (start, 37)
    size = {1: 4, 2: 8, 3: 2, 4: 2}[rows.element_type]
    assert rows.row_count * rows.row_width * size == len(wanted)

    chunks = list(stub.ReadRows(
        v1.ReadRowsRequest(spec=spec, start_position=start, row_count=37)))
    assert b"".join(c.rows.data for c in chunks) == wanted

    row_bytes = len(wanted) // 37
    order = [5, 36, 5, 0]
    gathered = stub.GatherRows(
        v1.GatherRowsRequest(spec=spec, positions=[start + i for i in order])).rows
    assert gathered.data == b"".join(
        wanted[i * row_bytes:(i + 1) * row_bytes] for i in order)
    assert not gathered.HasField("start_position")


def rounded(value, bits):
    """The float of `bits` significand bits nearest to an mpf (no subnormal among these)."""
    with mpmath.workprec(bits):
        return float(+value)


@pytest.mark.parametrize("bits,element_type,dtype", [(24, 1, "<f4"), (53, 2, "<f8")])
@pytest.mark.parametrize("start", [0, 1, 4093, 65535, (1 << 31) + 5, (1 << 53) - 3, -(1 << 53)])
def test_rows_are_the_formula_rounded_once(stub, v1, bits, element_type, dtype, start):
    width, base, count = 24, 10000, 4
    spec = v1.TableSpec(sinusoidal=v1.Sinusoidal(width=width), element_type=element_type)
    rows = stub.GetRows(
        v1.GetRowsRequest(spec=spec, start_position=start, row_count=count)).rows
    served = numpy.frombuffer(rows.data, dtype).reshape(count, width)
    with mpmath.workprec(400):
        for p in range(count):
            for i in range(width // 2):
                angle = (start + p) * mpmath.power(base, -mpmath.mpf(2 * i) / width)
                assert served[p, 2 * i] == rounded(mpmath.sin(angle), bits)
                assert served[p, 2 * i + 1] == rounded(mpmath.cos(angle), bits)


def test_fractional_positions(stub, v1):
    positions = [0.5, -3.25, 1e-300, 4093.0]
    spec = v1.TableSpec(sinusoidal=v1.Sinusoidal(width=8), element_type=2)
    rows = stub.GatherRows(v1.GatherRowsRequest(spec=spec, real_positions=positions)).rows
    served = numpy.frombuffer(rows.data, "<f8").reshape(len(positions), 8)
    with mpmath.workprec(1500):
        for p, position in enumerate(positions):
            for i in range(4):
                angle = mpmath.mpf(position) * mpmath.power(10000, -mpmath.mpf(2 * i) / 8)
                assert served[p, 2 * i] == rounded(mpmath.sin(angle), 53)
                assert served[p, 2 * i + 1] == rounded(mpmath.cos(angle), 53)


def test_frequencies(stub, v1):
    answer = stub.GetFrequencies(
        v1.GetFrequenciesRequest(spec=v1.TableSpec(sinusoidal=v1.Sinusoidal(width=512))))
    assert len(answer.frequencies) == 256
    with mpmath.workprec(200):
        for i, frequency in enumerate(answer.frequencies):
            assert frequency == rounded(mpmath.power(10000, -mpmath.mpf(2 * i) / 512), 53)


def test_worked_example(stub, v1):
    """d = 4: frequencies (1, 0.01), three rows, and the shift that makes row 2 of row 1."""
    spec = v1.TableSpec(sinusoidal=v1.Sinusoidal(width=4))
    frequencies = stub.GetFrequencies(v1.GetFrequenciesRequest(spec=spec)).frequencies
    assert list(frequencies) == [1.0, 0.01]

    rows = stub.GetRows(v1.GetRowsRequest(spec=spec, row_count=3)).rows
    table = numpy.frombuffer(rows.data, "<f4").reshape(3, 4)
    printed = [[0, 1, 0, 1], [0.841471, 0.540302, 0.010000, 0.999950],
               [0.909297, -0.416147, 0.019999, 0.999800]]
    assert numpy.abs(table - printed).max() <= 5.1e-7

    for by in ({"steps": 1}, {"fractional_steps": 1.0}):
        shifted = stub.ShiftRows(
            v1.ShiftRowsRequest(spec=spec, data=rows.data[16:32], **by)).rows
        moved = numpy.frombuffer(shifted.data, "<f4")
        assert numpy.abs(moved - table[2]).max() <= 2.0**-23


def test_four_mebibytes_exactly(stub, v1, local):
    """8192 x 128 float32 does not fit one message with its head: the error names the way out."""
    spec = v1.TableSpec(sinusoidal=v1.Sinusoidal(width=128))
    with pytest.raises(grpc.RpcError) as error:
        stub.GetRows(v1.GetRowsRequest(spec=spec, row_count=8192))
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "ReadRows" in error.value.details()
    assert "4194304" in error.value.details()

    data, position = [], 0
    for chunk in stub.ReadRows(v1.ReadRowsRequest(spec=spec, row_count=8192)):
        assert chunk.rows.start_position == position
        assert 0 < len(chunk.rows.data) <= MIB
        assert len(chunk.rows.data) == chunk.rows.row_count * 128 * 4
        position += chunk.rows.row_count
        data.append(chunk.rows.data)
    assert position == 8192
    assert b"".join(data) == local("rows", "sinusoidal", "--width=128", "--count=8192")


def test_no_rows_are_one_message(stub, v1):
    spec = v1.TableSpec(learned_init=v1.LearnedInit(max_positions=10, width=8))
    for start in (0, 10):
        request = dict(spec=spec, start_position=start, row_count=0)
        assert stub.GetRows(v1.GetRowsRequest(**request)).rows.row_count == 0
        messages = list(stub.ReadRows(v1.ReadRowsRequest(**request)))
        assert [m.rows.row_count for m in messages] == [0]
        assert messages[0].rows.row_width == 8


def test_server_tells_its_limits(stub, v1):
    info = stub.GetServerInfo(v1.GetServerInfoRequest())
    assert info.max_message_bytes == 4194304
    assert info.max_chunk_bytes == MIB
    assert info.max_width == 65536
    assert 0 <= info.cached_bytes <= info.cache_bytes


def test_unit_circle_and_dot_product(stub, v1):
    """Each pair lies on the unit circle; row p times row p + k depends on k alone."""
    spec = v1.TableSpec(sinusoidal=v1.Sinusoidal(width=128), element_type=2)
    rows = stub.GetRows(v1.GetRowsRequest(spec=spec, row_count=300)).rows
    table = numpy.frombuffer(rows.data, "<f8").reshape(300, 128)
    assert numpy.abs(table[:, 0::2]**2 + table[:, 1::2]**2 - 1).max() < 4 * 2.0**-53
    frequencies = [10000.0**(-i / 64) for i in range(64)]
    for k in (0, 1, 17, 255):
        wanted = math.fsum(math.cos(k * w) for w in frequencies)
        products = (table[:300 - k] * table[k:]).sum(axis=1)
        assert numpy.abs(products - wanted).max() < 1e-11
