"""Rows as they come out of --local, against exact_tables."""

import numpy as np
import pytest

from exact_tables import (LAYOUTS, NPY_TYPES, assert_same_bits, frequencies, learned_init, rounded,
                          sinusoidal, values_of)

TYPES = tuple(NPY_TYPES)


def test_worked_example(tool):
    out = tool.out("rows", "sinusoidal", "--width=4", "--count=3", "--local").decode()
    rows = [[float(x) for x in line.split(",")] for line in out.splitlines()]
    assert rows[0] == [0, 1, 0, 1]
    assert np.allclose(rows[1], [0.841471, 0.540302, 0.010000, 0.999950], atol=5e-7)
    assert np.allclose(rows[2], [0.909297, -0.416147, 0.019999, 0.999800], atol=5e-7)


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_types_and_layouts(tool, element_type, layout):
    array = tool.npy("rows", "sinusoidal", "--width=6", "--start=-2", "--count=5", "--local",
                     f"--type={element_type}", f"--layout={layout}")
    assert_same_bits(values_of(array, element_type),
                     sinusoidal(range(-2, 3), 6, element_type, layout))


@pytest.mark.parametrize("flags, ladder", [
    (["--base=500000"], {"base": 500000.0}),
    (["--base=2.5e6"], {"base": 2.5e6}),
    (["--ladder=paper"], {}),
    (["--ladder=inclusive"], {"ladder": "inclusive"}),
    (["--ladder=downscaled", "--downscale_shift=0"], {"ladder": "downscaled"}),
    (["--ladder=downscaled", "--downscale_shift=1.5"],
     {"ladder": "downscaled", "downscale_shift": 1.5}),
    (["--ladder=explicit", "--frequencies=1,0.01,-3,0"],
     {"ladder": "explicit", "explicit": [1, 0.01, -3, 0]}),
])
def test_ladders(tool, flags, ladder):
    array = tool.npy("rows", "sinusoidal", "--width=8", "--start=1000", "--count=3", "--local",
                     *flags)
    assert_same_bits(values_of(array, "float32"), sinusoidal(range(1000, 1003), 8, **ladder))
    omegas = tool.npy("freqs", "sinusoidal", "--width=8", "--local", *flags)
    assert omegas.dtype.str == "<f8" and omegas.shape == (4,)
    assert_same_bits(omegas, np.array([rounded(w, "float64") for w in frequencies(8, **ladder)]))


def test_offset_and_zero_row(tool):
    array = tool.npy("rows", "sinusoidal", "--width=4", "--count=3", "--local",
                     "--ladder=inclusive", "--layout=sin_cos_halves", "--position_offset=2",
                     "--zero_row=3")
    expected = sinusoidal(range(3), 4, layout="sin_cos_halves", ladder="inclusive",
                          position_offset=2, zero_row=3)
    assert_same_bits(values_of(array, "float32"), expected)
    assert not array[1].any()


@pytest.mark.parametrize("start", [2**53 - 2, -(2**53)])
def test_far_positions(tool, start):
    array = tool.npy("rows", "sinusoidal", "--width=4", f"--start={start}", "--count=3", "--local",
                     "--type=float64")
    assert_same_bits(array, sinusoidal(range(start, start + 3), 4, "float64"))


@pytest.mark.parametrize("element_type", TYPES)
def test_learned_init(tool, element_type):
    array = tool.npy("rows", "learned_init", "--max_positions=5", "--width=3", "--count=5",
                     "--local", "--seed=42", "--stream=54", "--stddev=0.5",
                     f"--type={element_type}")
    assert_same_bits(values_of(array, element_type),
                     learned_init(5, 3, element_type, stddev=0.5, seed=42, stream=54))


def test_learned_init_defaults(tool):
    array = tool.npy("rows", "learned_init", "--max_positions=100", "--width=8", "--start=2",
                     "--count=2", "--local")
    assert_same_bits(values_of(array, "float32"), learned_init(4, 8)[2:])


@pytest.mark.parametrize("positions", ["5,5,1048575", "-3", "7,0,7,9007199254740992"])
def test_gather(tool, positions):
    array = tool.npy("gather", "sinusoidal", "--width=4", f"--positions={positions}", "--local")
    assert_same_bits(values_of(array, "float32"),
                     sinusoidal([int(p) for p in positions.split(",")], 4))


def test_gather_fractional_positions(tool):
    array = tool.npy("gather", "sinusoidal", "--width=4", "--positions=0.5,1e0,-2.25", "--local",
                     "--type=float64")
    assert_same_bits(array, sinusoidal([0.5, 1.0, -2.25], 4, "float64"))


def test_gather_from_file(tool):
    (tool.directory / "positions").write_text("5, 5\n1048575\t-1\r\n")
    assert (tool.out("gather", "sinusoidal", "--width=4", "--positions=@positions", "--local") ==
            tool.out("gather", "sinusoidal", "--width=4", "--positions=5,5,1048575,-1", "--local"))
    (tool.directory / "none").write_text("\n")
    assert tool.npy("gather", "sinusoidal", "--width=4", "--positions=@none",
                    "--local").shape == (0, 4)


def test_gather_is_cut_into_calls(tool):
    positions = [(i * 7919) % 100003 - 50000 for i in range(100000)]
    (tool.directory / "positions").write_text("\n".join(map(str, positions)))
    array = tool.npy("gather", "sinusoidal", "--width=16", "--positions=@positions", "--local")
    rows = tool.npy("rows", "sinusoidal", "--width=16", "--start=-50000", "--count=100003",
                    "--local")
    assert np.array_equal(array, rows[np.array(positions) + 50000])


def test_frequencies_from_file(tool):
    (tool.directory / "ladder").write_text("1\n0.01\n")
    spec = ["rows", "sinusoidal", "--width=4", "--count=9", "--local", "--ladder=explicit"]
    assert (tool.out(*spec, "--frequencies=@ladder") == tool.out(*spec, "--frequencies=1,0.01"))


def test_an_offset_is_the_tail_of_a_longer_table(tool):
    whole = tool.npy("rows", "sinusoidal", "--width=64", "--count=3000", "--local")
    tail = tool.npy("rows", "sinusoidal", "--width=64", "--start=2000", "--count=1000", "--local")
    assert np.array_equal(whole[2000:], tail)


def test_no_rows_from_first_to_one_past_the_last(tool):
    for start in (0, -(2**53), 2**53 + 1):
        array = tool.npy("rows", "sinusoidal", "--width=4", f"--start={start}", "--count=0",
                         "--local")
        assert array.shape == (0, 4)
    learned = ["rows", "learned_init", "--max_positions=3", "--width=4", "--local"]
    assert tool.out(*learned, "--start=3", "--count=0") == b""
    tool.refused(*learned, "--start=4", "--count=0", names=["--start=4", "start_position"])


def test_export_is_rows_to_a_file(tool):
    spec = ["sinusoidal", "--width=512", "--type=bfloat16", "--local"]
    assert tool.out("export", *spec, "--count=20000", "--output=table.npy") == b""
    table = np.load(tool.directory / "table.npy")
    assert table.shape == (20000, 512) and table.dtype.str == "<u2"
    assert np.array_equal(table[19990:], tool.npy("rows", *spec, "--start=19990", "--count=10"))
    tool.refused("export", *spec, "--count=3", names=["--output"])
