import mpmath
import numpy as np
import pytest

from exact_tables import assert_same_bits, frequencies, rounded, values_of


def save(tool, array, name="rows.npy"):
    np.save(tool.directory / name, array)
    return f"--input={name}"


def rotated(rows, by, element_type, width=4):
    """Each pair of interleaved rows turned by -by * w, exactly, then rounded."""
    expected = []
    for row in rows:
        for w, (s, c) in zip(frequencies(width), np.reshape(row, (-1, 2))):
            angle = mpmath.mpf(by) * w
            s, c = mpmath.mpf(float(s)), mpmath.mpf(float(c))
            cos, sin = mpmath.cos(angle), mpmath.sin(angle)
            expected += [rounded(s * cos + c * sin, element_type),
                         rounded(c * cos - s * sin, element_type)]
    return np.array(expected).reshape(len(rows), width)


def test_row_1_becomes_row_2(tool):
    rows = tool.npy("rows", "sinusoidal", "--width=4", "--count=3", "--local")
    shifted = tool.npy("shift", "sinusoidal", "--width=4", "--by=1", save(tool, rows[1:2]),
                       "--local")
    assert np.abs(shifted - rows[2:3]).max() <= 2.0**-23


@pytest.mark.parametrize("by", ["-3", "0.5", "1000000", "-2.5e-3"])
@pytest.mark.parametrize("element_type, dtype", [("float32", "<f4"), ("float64", "<f8"),
                                                 ("float16", "<f2")])
def test_is_the_rounded_rotation_of_the_numbers_given(tool, by, element_type, dtype):
    rows = np.array([[0.5, 0.25, 1, 0], [-0.75, 3, 0.1, 1e-3]]).astype(dtype)
    shifted = tool.npy("shift", "sinusoidal", "--width=4", f"--by={by}", save(tool, rows),
                       "--local")
    assert_same_bits(values_of(shifted, element_type), rotated(rows, float(by), element_type))


def test_bfloat16_are_bit_patterns(tool):
    spec = ["sinusoidal", "--width=4", "--local", "--type=bfloat16"]
    rows = tool.npy("rows", *spec, "--count=3")
    given = save(tool, rows)
    shifted = tool.npy("shift", *spec, "--by=7", given)
    assert_same_bits(values_of(shifted, "bfloat16"),
                     rotated(values_of(rows, "bfloat16"), 7, "bfloat16"))
    tool.refused("shift", "sinusoidal", "--width=4", "--local", "--by=7", given,
                 names=["--input", "--type=bfloat16"])


def test_by_nothing_gives_the_rows_back(tool):
    rows = tool.npy("rows", "sinusoidal", "--width=64", "--count=100", "--local")
    for by in ("0", "0.0"):
        assert np.array_equal(rows, tool.npy("shift", "sinusoidal", "--width=64", f"--by={by}",
                                             save(tool, rows), "--local"))


def test_single_row_and_no_rows(tool):
    spec = ["shift", "sinusoidal", "--width=4", "--by=1", "--local"]
    one = np.array([0, 1, 0, 1], dtype="<f4")
    assert tool.npy(*spec, save(tool, one)).shape == (1, 4)
    assert tool.npy(*spec, save(tool, one[None][:0])).shape == (0, 4)


def test_large_input_is_cut_into_calls(tool):
    rows = tool.npy("rows", "sinusoidal", "--width=64", "--count=20000", "--local")
    shifted = tool.npy("shift", "sinusoidal", "--width=64", "--by=5", save(tool, rows), "--local")
    part = tool.npy("shift", "sinusoidal", "--width=64", "--by=5", save(tool, rows[17000:17100]),
                    "--local")
    assert np.array_equal(shifted[17000:17100], part)


def test_reads_stdin(tool):
    spec = ["shift", "sinusoidal", "--width=4", "--by=1", "--local"]
    given = save(tool, np.ones((3, 4), dtype="<f4"))
    with open(tool.directory / "rows.npy", "rb") as rows:
        assert tool.out(*spec, "--input=-", stdin=rows) == tool.out(*spec, given)
    content = (tool.directory / "rows.npy").read_bytes()
    assert tool.out(*spec, "--input=-", input=content) == tool.out(*spec, given)
    tool.refused(*spec, "--input=-", input=content[:-1], names=["--input"])
    tool.refused(*spec, "--input=-", input=content + b"x", names=["--input"])


def test_type_may_only_confirm(tool):
    spec = ["shift", "sinusoidal", "--width=4", "--by=1", "--local"]
    given = save(tool, np.ones((3, 4), dtype="<f4"))
    tool.out(*spec, given, "--type=float32")
    for other in ("float64", "float16", "bfloat16"):
        tool.refused(*spec, given, f"--type={other}", names=[f"--type={other}", "element_type"])


@pytest.mark.parametrize("array", [
    np.ones((3, 4), dtype=">f4"),
    np.ones((3, 4), dtype="<i4"),
    np.ones((3, 4), dtype="<u4"),
    np.ones((3, 4), dtype="<c8"),
    np.ones((3, 4), dtype="|b1"),
    np.ones((3, 4), dtype="<u2"),
    np.ones((3, 4), dtype=[("a", "<f4")]),
    np.ones((3, 6), dtype="<f4"),
    np.ones((4, 3), dtype="<f4"),
    np.ones((3, 4, 1), dtype="<f4"),
    np.ones((1, 3, 4), dtype="<f4"),
    np.ones(8, dtype="<f4"),
    np.float32(1),
    np.asfortranarray(np.ones((3, 4), dtype="<f4")),
    np.full((3, 4), np.nan, dtype="<f4"),
    np.full((3, 4), -np.inf, dtype="<f4"),
])
def test_refuses_other_arrays(tool, array):
    tool.refused("shift", "sinusoidal", "--width=4", "--by=1", save(tool, array), "--local",
                 names=["--input=rows.npy"])


def test_refuses_files_that_are_cut_or_go_on(tool):
    spec = ["shift", "sinusoidal", "--width=4", "--by=1", "--local", "--input=cut.npy"]
    save(tool, np.ones((3, 4), dtype="<f4"))
    content = (tool.directory / "rows.npy").read_bytes()
    for cut in (content[:0], content[:7], content[:9], content[:100], content[:-1], content + b"x",
                b"PK\x03\x04" + content[4:], content[:6] + b"\x03" + content[7:]):
        (tool.directory / "cut.npy").write_bytes(cut)
        tool.refused(*spec, names=["--input=cut.npy"])


def test_names_the_row_and_column_of_a_nan(tool):
    rows = np.ones((3, 4), dtype="<f4")
    rows[2, 1] = np.nan
    line = tool.refused("shift", "sinusoidal", "--width=4", "--by=1", save(tool, rows), "--local",
                        names=["--input=rows.npy: data: "])
    assert "row 2" in line and "column 1" in line


def test_refuses_what_cannot_be_turned(tool):
    given = save(tool, np.ones((3, 4), dtype="<f4"))
    tool.refused("shift", "learned_init", "--max_positions=3", "--width=4", "--by=1", given,
                 "--local", names=["spec"])
    tool.refused("shift", "sinusoidal", "--width=8", "--layout=cos_only", "--by=1", given,
                 "--local", names=["spec"])
    uneven = np.arange(12, dtype="<f4").reshape(3, 4)
    tool.refused("shift", "sinusoidal", "--width=2", "--layout=cos_sin_duplicated_halves",
                 "--by=1", save(tool, uneven), "--local", names=["--input=rows.npy: data: ", "row 0"])


@pytest.mark.parametrize("by", ["", "x", "1e400", "nan", "inf", "99999999999999999999", "0x1",
                                "+1", "1,2"])
def test_refuses_by(tool, by):
    given = save(tool, np.ones((3, 4), dtype="<f4"))
    tool.refused("shift", "sinusoidal", "--width=4", f"--by={by}", given, "--local",
                 names=[f"--by={by}: by: "])


def test_missing_input_is_not_the_requests_fault(tool):
    tool.refused("shift", "sinusoidal", "--width=4", "--by=1", "--input=missing.npy", "--local",
                 names=["--input=missing.npy"], status=1)
    tool.refused("shift", "sinusoidal", "--width=4", "--by=1", "--local", names=["--input"])
    tool.refused("shift", "sinusoidal", "--width=4", "--input=rows.npy", "--local",
                 names=["--by"])
