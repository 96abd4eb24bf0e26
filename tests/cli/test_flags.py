"""Flags, and what becomes of wrong ones: exit status 2 and one line that names
the flag and the field."""

import itertools

import pytest

ROWS = ["rows", "sinusoidal", "--width=4", "--count=3", "--local"]
LEARNED = ["rows", "learned_init", "--max_positions=5", "--width=4", "--count=3", "--local"]


def replaced(words, *flags):
    names = {flag.partition("=")[0] for flag in flags}
    return [word for word in words if word.partition("=")[0] not in names] + list(flags)


def test_help_and_version(tool):
    for words in (["--help"], ["rows", "--help"], ["--help", "plot"], ["shift", "sinusoidal", "--help"],
                  ["--help=true"]):
        assert b"--" in tool.out(*words)
    for verb in b"rows gather export shift freqs table plot tables health info".split():
        assert verb in tool.out("--help")
    for flag in b"--width --base --ladder --downscale_shift --frequencies --layout " \
                b"--position_offset --zero_row --type --numerics --max_positions --stddev --seed " \
                b"--stream --start --count --server --local --timeout --output --format".split():
        assert flag in tool.out("rows", "--help")
    assert tool.out("--version").startswith(b"phasor ")


def test_flags_stand_in_any_order_around_the_verb(tool):
    expected = tool.out(*ROWS)
    for words in itertools.permutations(ROWS):
        if words.index("rows") < words.index("sinusoidal"):
            assert tool.out(*words) == expected


def test_switch(tool):
    assert tool.out(*replaced(ROWS, "--local=true")) == tool.out(*ROWS)
    tool.refused(*replaced(ROWS, "--local=yes"), names=["--local"])
    tool.refused(*replaced(ROWS, "--local="), names=["--local"])


def test_written_defaults_are_the_defaults(tool):
    assert tool.out(*ROWS, "--base=10000", "--ladder=paper", "--layout=sin_cos_interleaved",
                    "--position_offset=0", "--type=float32", "--numerics=exact",
                    "--start=0") == tool.out(*ROWS)
    assert tool.out(*ROWS, "--base=1e4") == tool.out(*ROWS)
    assert tool.out(*LEARNED, "--stddev=0.02", "--seed=0", "--stream=0") == tool.out(*LEARNED)


@pytest.mark.parametrize("words, name", [
    ([], "verb"),
    (["row", "sinusoidal"], "row"),
    (["rows"], "scheme"),
    (["rows", "sinusoid"], "sinusoid"),
    (["rows", "rotational", "--width=4", "--count=1"], "rotational"),
    (ROWS + ["more"], "more"),
    (ROWS + ["--widht=4"], "--widht"),
    (ROWS + ["--width=4"], "--width"),
    (ROWS + ["--local"], "--local"),
    (ROWS + ["-n=4"], "-n"),
    (ROWS + ["--base"], "--base"),
    (["health", "--width=4"], "--width"),
    (["health", "--local"], "--local"),
])
def test_words_that_are_not_known(tool, words, name):
    tool.refused(*words, names=[name])


@pytest.mark.parametrize("flag", ["--seed=1", "--stream=1", "--stddev=1", "--max_positions=4",
                                  "--positions=1", "--by=1", "--input=x.npy"])
def test_flags_without_meaning_for_sinusoidal_rows(tool, flag):
    tool.refused(*ROWS, flag, names=[flag.partition("=")[0]])


@pytest.mark.parametrize("flag", ["--base=2", "--ladder=paper", "--downscale_shift=0",
                                  "--frequencies=1", "--layout=sin_only", "--position_offset=0",
                                  "--zero_row=0"])
def test_flags_without_meaning_for_learned_init(tool, flag):
    tool.refused(*LEARNED, flag, names=[flag.partition("=")[0]])


@pytest.mark.parametrize("flags, name, field", [
    (["--base=2", "--ladder=explicit", "--frequencies=1,0.01"], "--base=2", "spec.sinusoidal.base"),
    (["--downscale_shift=1"], "--downscale_shift=1", "spec.sinusoidal.downscaled.downscale_shift"),
    (["--frequencies=1,0.01"], "--frequencies=1,0.01", "spec.sinusoidal.explicit.frequencies"),
    (["--ladder=explicit"], "--frequencies", "spec.sinusoidal.explicit.frequencies"),
    (["--ladder=downscaled"], "--downscale_shift", "spec.sinusoidal.downscaled.downscale_shift"),
])
def test_flags_of_another_ladder(tool, flags, name, field):
    tool.refused(*ROWS, *flags, names=[name, field])


NO_INTEGERS = ["", "x", "4.0", "4e0", "0x10", "+4", " 4", "4 ", "4,", "1_000", "--4",
               "99999999999999999999", "-9223372036854775809", "٤"]
NO_REALS = ["", "x", "inf", "-inf", "nan", "1e400", "-1e400", "0x1p3", "+1", "1,5", "1e", "1 "]


@pytest.mark.parametrize("text", NO_INTEGERS)
@pytest.mark.parametrize("words, flag, field", [
    (ROWS, "--width", "spec.sinusoidal.width"),
    (ROWS, "--position_offset", "spec.sinusoidal.position_offset"),
    (ROWS, "--zero_row", "spec.sinusoidal.zero_row"),
    (ROWS, "--start", "start_position"),
    (ROWS, "--count", "row_count"),
    (LEARNED, "--width", "spec.learned_init.width"),
    (LEARNED, "--max_positions", "spec.learned_init.max_positions"),
    (LEARNED, "--seed", "spec.learned_init.seed"),
    (LEARNED, "--stream", "spec.learned_init.stream"),
])
def test_texts_that_are_no_integers(tool, words, flag, field, text):
    tool.refused(*replaced(words, f"{flag}={text}"), names=[f"{flag}=", field])


@pytest.mark.parametrize("text", NO_REALS)
@pytest.mark.parametrize("words, flag, field", [
    (ROWS, "--base", "spec.sinusoidal.base"),
    (ROWS + ["--ladder=downscaled"], "--downscale_shift",
     "spec.sinusoidal.downscaled.downscale_shift"),
    (LEARNED, "--stddev", "spec.learned_init.stddev"),
])
def test_texts_that_are_no_reals(tool, words, flag, field, text):
    tool.refused(*replaced(words, f"{flag}={text}"), names=[f"{flag}=", field])


@pytest.mark.parametrize("flag, field", [
    ("--width=7", "spec.sinusoidal.width"),
    ("--width=0", "spec.sinusoidal.width"),
    ("--width=-2", "spec.sinusoidal.width"),
    ("--width=65538", "spec.sinusoidal.width"),
    ("--base=1", "spec.sinusoidal.base"),
    ("--base=0", "spec.sinusoidal.base"),
    ("--base=-10000", "spec.sinusoidal.base"),
    ("--base=18446744073709551617000", "spec.sinusoidal.base"),
    ("--count=-1", "row_count"),
    ("--start=9007199254740993", "start_position"),
    ("--start=-9007199254740993", "start_position"),
    ("--layout=SIN_ONLY", "spec.sinusoidal.layout"),
    ("--layout=layout_sin_only", "spec.sinusoidal.layout"),
    ("--layout=", "spec.sinusoidal.layout"),
    ("--ladder=linear", "spec.sinusoidal.ladder"),
    ("--type=float8", "spec.element_type"),
    ("--type=int32", "spec.element_type"),
    ("--numerics=torch_float32", "spec.numerics"),
    ("--numerics=fast", "spec.numerics"),
])
def test_values_out_of_range(tool, flag, field):
    tool.refused(*replaced(ROWS, flag), names=[flag + ": ", field + ": "])


@pytest.mark.parametrize("flags, name, field", [
    (["--ladder=downscaled", "--downscale_shift=-0.5"], "--downscale_shift=-0.5",
     "spec.sinusoidal.downscaled.downscale_shift"),
    (["--ladder=downscaled", "--downscale_shift=1.75"], "--downscale_shift=1.75",
     "spec.sinusoidal.downscaled.downscale_shift"),
    (["--ladder=explicit", "--frequencies=1"], "--frequencies=1",
     "spec.sinusoidal.explicit.frequencies"),
    (["--ladder=explicit", "--frequencies=1,2,3"], "--frequencies=1,2,3",
     "spec.sinusoidal.explicit.frequencies"),
    (["--ladder=explicit", "--frequencies=1,4294967297"], "--frequencies=1,4294967297",
     "spec.sinusoidal.explicit.frequencies[1]"),
    (["--ladder=explicit", "--frequencies=1,1e-20"], "--frequencies=1,1e-20",
     "spec.sinusoidal.explicit.frequencies[1]"),
    (["--ladder=explicit", "--frequencies=1,x"], "--frequencies=1,x",
     "spec.sinusoidal.explicit.frequencies"),
    (["--ladder=explicit", "--frequencies=1,,2"], "--frequencies=1,,2",
     "spec.sinusoidal.explicit.frequencies"),
])
def test_ladder_values_out_of_range(tool, flags, name, field):
    tool.refused(*ROWS, *flags, names=[name, field])


@pytest.mark.parametrize("flag, field", [
    ("--width=0", "spec.learned_init.width"),
    ("--width=65537", "spec.learned_init.width"),
    ("--max_positions=0", "spec.learned_init.max_positions"),
    ("--max_positions=2305843009213693952", "spec.learned_init.max_positions"),
    ("--stddev=0", "spec.learned_init.stddev"),
    ("--stddev=-1", "spec.learned_init.stddev"),
    ("--stream=-1", "spec.learned_init.stream"),
    ("--count=6", "row_count"),
    ("--start=-1", "start_position"),
    ("--start=3", "row_count"),
    ("--start=9223372036854775807", "start_position"),
])
def test_learned_values_out_of_range(tool, flag, field):
    tool.refused(*replaced(LEARNED, flag), names=["--", field + ": "])


def test_stddev_that_overflows_the_type(tool):
    tool.refused(*LEARNED, "--stddev=65504", "--type=float16",
                 names=["--stddev=65504", "spec.learned_init.stddev"])


@pytest.mark.parametrize("words, flag, field", [
    (["rows", "sinusoidal", "--width=4", "--local"], "--count", "row_count"),
    (["rows", "sinusoidal", "--count=4", "--local"], "--width", "spec.sinusoidal.width"),
    (["export", "sinusoidal", "--width=4", "--count=1", "--local"], "--output", "--output"),
    (["gather", "sinusoidal", "--width=4", "--local"], "--positions", "positions"),
    (["table", "learned_init", "--width=4", "--local"], "--max_positions",
     "spec.learned_init.max_positions"),
])
def test_what_is_required(tool, words, flag, field):
    tool.refused(*words, names=[flag, field, "required"])


@pytest.mark.parametrize("positions", ["1,0.5", "0.5,1", "1,2.0", "1,x", "1,,2", ",", "1,", "",
                                       "99999999999999999999", "1e400", "nan", "0x1"])
def test_positions_that_are_none(tool, positions):
    tool.refused("gather", "sinusoidal", "--width=4", "--local", f"--positions={positions}",
                 names=[f"--positions={positions}: positions"])


@pytest.mark.parametrize("positions, field", [
    ("0,9007199254740993", "positions[1]"),
    ("-9007199254740993,0", "positions[0]"),
    ("0.5,1e17", "real_positions[1]"),
])
def test_positions_that_do_not_exist(tool, positions, field):
    tool.refused("gather", "sinusoidal", "--width=4", "--local", f"--positions={positions}",
                 names=[f"--positions={positions}", field])


@pytest.mark.parametrize("positions, field", [("0,5", "positions[1]"), ("-1", "positions[0]"),
                                              ("0.5", "real_positions")])
def test_learned_positions_that_do_not_exist(tool, positions, field):
    tool.refused("gather", "learned_init", "--max_positions=5", "--width=4", "--local",
                 f"--positions={positions}", names=[f"--positions={positions}", field])


def test_a_wrong_position_late_in_a_long_list(tool):
    (tool.directory / "positions").write_text("1\n" * 300000 + "9007199254740993\n")
    tool.refused("gather", "sinusoidal", "--width=64", "--local", "--positions=@positions",
                 names=["--positions=@positions", "positions[300000]"])


def test_a_list_file_that_is_missing(tool):
    tool.refused("gather", "sinusoidal", "--width=4", "--local", "--positions=@missing",
                 names=["--positions=@missing", "missing"], status=1)


def test_frequencies_of_a_table_without_any(tool):
    tool.refused("freqs", "learned_init", "--max_positions=4", "--width=4", "--local",
                 names=["spec", "learned_init"])


@pytest.mark.parametrize("timeout", ["", "0", "-1s", "soon", "inf", "10 s", "0x1s"])
def test_timeouts_that_are_none(tool, timeout):
    tool.refused("health", f"--timeout={timeout}", names=["--timeout="])


def test_long_values_make_short_lines(tool):
    line = tool.refused(*replaced(ROWS, "--width=" + "9" * 10000), names=["--width=999"])
    assert len(line) < 400


def test_control_characters_stay_out_of_the_line(tool):
    tool.refused(*replaced(ROWS, "--width=4\n5\x1b[31m"), names=["--width="])
    tool.refused(*ROWS, "--wi\ndth=4")
    tool.refused("ro\nws")
