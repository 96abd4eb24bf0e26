"""`phasor ... rotary`, against mpmath and the golden values."""

import json
from pathlib import Path

import exact_tables
import mpmath
import numpy as np
import pytest

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "schemes.json").read_text())

LLAMA31 = ["--width=128", "--base=500000", "--scaling=llama3", "--factor=8", "--low_freq_factor=1",
           "--high_freq_factor=4", "--original_max_position_embeddings=8192"]
GPT_OSS = ["--width=64", "--base=150000", "--scaling=yarn", "--factor=32",
           "--original_max_position_embeddings=4096", "--truncate=false"]


@pytest.mark.parametrize("words,golden", [
    (LLAMA31, GOLDEN["llama3.1_inv_freq_theta5e5_d128_f8_lf1_hf4_M8192"]),
    (GPT_OSS, GOLDEN["gpt_oss_yarn_notrunc"]["inv_freq"]),
])
def test_frequencies_are_the_golden_ones(tool, words, golden):
    got = [float(w) for w in tool.out("freqs", "rotary", *words, "--local").split()]
    for index, want in golden.items():
        assert got[int(index)] == pytest.approx(float(want), rel=2.0**-52)


def test_rows_are_cosines_and_sines_of_the_frequencies_times_the_factor(tool):
    rows = [[float(x) for x in line.split(",")] for line in tool.out(
        "gather", "rotary", *GPT_OSS, "--positions=0,1,131071", "--type=float64",
        "--local").decode().splitlines()]
    factor = 1 + mpmath.log(32) / 10
    # The tenth pair is blended, the first one kept: both to more digits than a binary64 has.
    low = 32 * mpmath.log(4096 / (64 * mpmath.pi)) / mpmath.log(150000)
    high = 32 * mpmath.log(4096 / (2 * mpmath.pi)) / mpmath.log(150000)
    ramp = (10 - low) / (high - low)
    blended = mpmath.power(150000, -mpmath.mpf(10) / 32) * (1 - ramp + ramp / 32)
    for row, position in zip(rows, (0, 1, 131071)):
        for pair, w in ((0, mpmath.mpf(1)), (10, blended)):
            assert row[pair] == exact_tables.rounded(factor * mpmath.cos(position * w), "float64")
            assert row[32 + pair] == exact_tables.rounded(
                factor * mpmath.sin(position * w), "float64")


def test_each_axis_has_its_position(tool):
    words = ["rotary", "--width=16", "--mrope_section=2,3,3", "--local"]
    got = np.loadtxt(tool.out("gather", *words, "--positions=5,70,900", "--axes=3").decode().splitlines(),
                     delimiter=",")
    rows = np.loadtxt(tool.out("gather", *words, "--positions=5,70,900").decode().splitlines(),
                      delimiter=",")
    axis = [0, 0, 1, 1, 1, 2, 2, 2]
    assert got.tolist() == [rows[axis[column % 8]][column] for column in range(16)]


@pytest.mark.parametrize("words,flag", [
    (["--width=7"], "--width=7"),
    (["--width=8", "--scaling=yarn", "--original_max_position_embeddings=1"], "--factor"),
    (["--width=8", "--scaling=linear", "--factor=0.5"], "--factor=0.5"),
    (["--width=8", "--factor=2"], "--factor=2"),
    (["--width=8", "--scaling=llama3", "--beta_fast=2"], "--beta_fast=2"),
    (["--width=8", "--scaling=su"], "--scaling=su"),
    (["--width=8", "--ladder=paper"], "--ladder"),
    (["--width=8", "--mrope_section=1,2"], "--mrope_section=1,2"),
    (["--width=8", "--mrope_interleaved=yes"], "--mrope_interleaved=yes"),
    (["--width=8", "--mrope_section=1.5,2.5"], "--mrope_section=1.5,2.5"),
    (["--width=2", "--scaling=ntk", "--factor=2"], "--width=2"),
    (["--width=8", "--attention_factor=0"], "--attention_factor=0"),
])
def test_what_is_wrong_names_its_flag(tool, words, flag):
    tool.refused("table", "rotary", *words, "--local", names=[flag])


def test_plot_draws_the_ladder(tool):
    picture = tool.out("plot", "rotary", *GPT_OSS, "--count=16", "--local")
    assert b"rotary, width 64" in picture
