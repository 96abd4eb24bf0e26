"""Tables of public models: the flags that docs/tables-of-models.md gives, against what the
models' own code computes, written here in binary64 after that code, and against values that
their authors publish."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "schemes.json").read_text())
PAGE = (Path(__file__).parents[2] / "docs" / "tables-of-models.md").read_text()


def rows(tool, words, positions):
    """The rows as binary64 [len(positions), row_width]."""
    numbers = ",".join(map(str, positions))
    kind = "int32" if words.startswith("relative_buckets") else "float64"
    text = tool.out("gather", *words.split(), f"--type={kind}", f"--positions={numbers}", "--local")
    return np.loadtxt(text.decode().splitlines(), delimiter=",", ndmin=2)


def agree(got, want):
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=4e-12)


# ---------------------------------------------------------------- the models' own code

def fairseq(length, width, padding):
    """fairseq SinusoidalPositionalEmbedding.get_embedding; FSMT, M2M100, NLLB, XGLM, ..."""
    half = width // 2
    ladder = np.exp(np.arange(half) * -(math.log(10000) / (half - 1)))
    angles = np.arange(length)[:, None] * ladder[None, :]
    table = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    if width % 2 == 1:
        table = np.concatenate([table, np.zeros((length, 1))], axis=1)
    table[padding, :] = 0
    return table


def marian(length, width):
    """MarianSinusoidalPositionalEmbedding.create_weight; Pegasus, RoFormer, ..."""
    angles = np.array([[p / np.power(10000, 2 * (j // 2) / width) for j in range(width)]
                       for p in range(length)])
    table = np.zeros((length, width))
    sentinel = width // 2 if width % 2 == 0 else (width // 2) + 1
    table[:, 0:sentinel] = np.sin(angles[:, 0::2])
    table[:, sentinel:] = np.cos(angles[:, 1::2])
    return table


def interleaved(length, width):
    """create_sinusoidal_embeddings of XLM, Flaubert, DistilBERT."""
    angles = np.array([[p / np.power(10000, 2 * (j // 2) / width) for j in range(width)]
                       for p in range(length)])
    table = np.zeros((length, width))
    table[:, 0::2] = np.sin(angles[:, 0::2])
    table[:, 1::2] = np.cos(angles[:, 1::2])
    return table


def whisper(length, channels):
    """openai/whisper sinusoids()."""
    increment = math.log(10000) / (channels // 2 - 1)
    scaled = np.arange(length)[:, None] * np.exp(-increment * np.arange(channels // 2))[None, :]
    return np.concatenate([np.sin(scaled), np.cos(scaled)], axis=1)


def musicgen(length, width):
    """MusicgenSinusoidalPositionalEmbedding.get_embedding: cosines first."""
    half = width // 2
    angles = np.arange(length)[:, None] * np.exp(
        np.arange(half) * -(math.log(10000) / (half - 1)))[None, :]
    table = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    if width % 2 == 1:
        table = np.concatenate([table, np.zeros((length, 1))], axis=1)
    return table


def tensor2tensor(length, channels, least, most, start=0):
    """common_attention.get_timing_signal_1d."""
    count = channels // 2
    increment = math.log(most / least) / max(count - 1, 1)
    inverse = least * np.exp(np.arange(count) * -increment)
    scaled = (np.arange(length) + start)[:, None] * inverse[None, :]
    signal = np.concatenate([np.sin(scaled), np.cos(scaled)], axis=1)
    return np.pad(signal, [[0, 0], [0, channels % 2]])


def transformer_xl(positions, width):
    """mem_transformer.PositionalEmbedding of a given sequence of positions."""
    inverse = 1 / (10000 ** (np.arange(0.0, width, 2.0) / width))
    angles = np.outer(positions, inverse)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


def diffusers(timesteps, width, flip=False, shift=1, scale=1, period=10000):
    """diffusers get_timestep_embedding."""
    half = width // 2
    exponent = -math.log(period) * np.arange(half) / (half - shift)
    angles = scale * (np.asarray(timesteps, dtype=float)[:, None] * np.exp(exponent)[None, :])
    table = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    if flip:
        table = np.concatenate([table[:, half:], table[:, :half]], axis=-1)
    return np.pad(table, [[0, 0], [0, width % 2]])


def alibi_slopes(heads):
    """get_slopes of Press et al.'s transformer.py; BLOOM, Falcon, gpt-neox."""
    def power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start ** i for i in range(n)]
    if math.log2(heads).is_integer():
        return power_of_2(heads)
    closest = 2 ** math.floor(math.log2(heads))
    return power_of_2(closest) + alibi_slopes(2 * closest)[0::2][:heads - closest]


def bloom(length, heads):
    """build_alibi_tensor of a mask of ones: [key, head]."""
    return np.arange(length)[:, None] * np.array(alibi_slopes(heads))[None, :]


def mpt(length, heads, bias_max):
    """build_mpt_alibi_tensor: [key, head], of the last query."""
    power = 2 ** math.ceil(math.log2(heads))
    slopes = 1.0 / 2.0 ** (np.arange(1, power + 1) * bias_max / power)
    if power != heads:
        slopes = np.concatenate([slopes[1::2], slopes[0::2]])[:heads]
    return np.arange(1 - length, 1)[:, None] * slopes[None, :]


def t5(positions, bidirectional, num_buckets=32, max_distance=128):
    """T5Attention._relative_position_bucket: its logarithm is a float32."""
    relative = np.asarray(positions)
    buckets = np.zeros_like(relative)
    if bidirectional:
        num_buckets //= 2
        buckets += (relative > 0) * num_buckets
        relative = np.abs(relative)
    else:
        relative = -np.minimum(relative, 0)
    exact = num_buckets // 2
    with np.errstate(divide="ignore"):
        logarithm = np.log(relative.astype(np.float32) / np.float32(exact))
    scaled = logarithm / np.float32(math.log(max_distance / exact)) * np.float32(num_buckets - exact)
    large = exact + np.maximum(scaled, 0).astype(int)
    large = np.minimum(large, num_buckets - 1)
    return (buckets + np.where(relative < exact, relative, large))[:, None]


# ---------------------------------------------------------------- the page's tables

FEW = range(24)
# Behind the padding row, 1, token k has row 2 + k.
FAIRSEQ = lambda width: lambda: fairseq(26, width, 1)[2:]  # noqa: E731
STEPS = [0.0, 0.5, 1.0, 23.75, 999.0]
UNIT = [0.0, 0.125, 0.7, 1.0]
AROUND = range(-600, 601)
XL = [6, 5, 4, 3, 2, 1, 0, -1, -2, -3]

# The flags, positions, and the rows that the model's code has there.
MODELS = {
    "sinusoidal --width=512": (FEW, lambda: interleaved(24, 512)),
    "sinusoidal --width=511 --odd_column=sine": (FEW, lambda: interleaved(24, 511)),
    "sinusoidal --width=512 --layout=sin_cos_halves": (FEW, lambda: marian(24, 512)),
    "sinusoidal --width=511 --layout=sin_cos_halves --odd_column=sine": (
        FEW, lambda: marian(24, 511)),
    "sinusoidal --width=1024 --ladder=inclusive --layout=sin_cos_halves --position_offset=2 "
    "--zero_row=1": (FEW, FAIRSEQ(1024)),
    "sinusoidal --width=1023 --ladder=inclusive --layout=sin_cos_halves --position_offset=2 "
    "--zero_row=1 --odd_column=zero": (FEW, FAIRSEQ(1023)),
    "sinusoidal --width=384 --ladder=inclusive --layout=sin_cos_halves": (
        [0, 1, 2, 700, 1499], lambda: whisper(1500, 384)[[0, 1, 2, 700, 1499]]),
    "sinusoidal --width=1024 --ladder=inclusive --layout=cos_sin_halves": (
        FEW, lambda: musicgen(24, 1024)),
    "sinusoidal --width=512 --ladder=timescales --layout=sin_cos_halves": (
        FEW, lambda: tensor2tensor(24, 512, 1.0, 1.0e4)),
    "sinusoidal --width=511 --ladder=timescales --layout=sin_cos_halves --odd_column=zero": (
        FEW, lambda: tensor2tensor(24, 511, 1.0, 1.0e4)),
    "sinusoidal --width=512 --ladder=timescales --min_timescale=2 --max_timescale=5000 "
    "--layout=sin_cos_halves": (FEW, lambda: tensor2tensor(24, 512, 2.0, 5000.0)),
    "timestep --width=320 --downscale_freq_shift=0 --flip_sin_to_cos=true": (
        STEPS, lambda: diffusers(STEPS, 320, True, 0)),
    "timestep --width=256 --downscale_freq_shift=0 --flip_sin_to_cos=true": (
        STEPS, lambda: diffusers(STEPS, 256, True, 0)),
    "timestep --width=256 --downscale_freq_shift=1": (STEPS, lambda: diffusers(STEPS, 256)),
    "timestep --width=256 --downscale_freq_shift=0 --flip_sin_to_cos=true --scale=1000": (
        UNIT, lambda: diffusers(UNIT, 256, True, 0, 1000)),
    "timestep --width=257 --downscale_freq_shift=0 --flip_sin_to_cos=true": (
        STEPS, lambda: diffusers(STEPS, 257, True, 0)),
    "alibi --head_count=112 --form=key_position": (FEW, lambda: bloom(24, 112)),
    "alibi --head_count=32 --form=key_position": (FEW, lambda: bloom(24, 32)),
    "alibi --head_count=32": (range(23, -1, -1), lambda: mpt(24, 32, 8)),
    "alibi --head_count=6 --bias_max=16": (range(23, -1, -1), lambda: mpt(24, 6, 16)),
    "relative_buckets": (AROUND, lambda: t5(AROUND, True)),
    "relative_buckets --bidirectional=false": (AROUND, lambda: t5(AROUND, False)),
    "relative_buckets --num_buckets=64 --max_distance=256": (
        AROUND, lambda: t5(AROUND, True, 64, 256)),
    "none --width=128": (FEW, lambda: np.repeat([[1.0, 0.0]], 64, axis=1).repeat(24, axis=0)),
    "none --width=768 --additive=true": (FEW, lambda: np.zeros((24, 768))),
    "sinusoidal --width=410 --layout=sin_cos_halves": (XL, lambda: transformer_xl(XL, 410)),
}


@pytest.mark.parametrize("words", MODELS)
def test_tables_are_what_the_models_compute(tool, words):
    positions, want = MODELS[words]
    agree(rows(tool, words, positions), want())


def test_the_page_lists_the_tables_that_are_tried():
    listed = re.findall(r"^\|.*\| `([^`]*)` \|$", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(MODELS)


# ---------------------------------------------------------------- what else is published

def table(tool, *words):
    return np.loadtxt(tool.out(*words, "--local").decode().splitlines(), delimiter=",", ndmin=2)


def test_the_padding_row_is_zero(tool):
    for words in MODELS:
        if "--zero_row" in words:
            assert not rows(tool, words, [-1]).any()


def test_fsmt_published_rows(tool):
    # transformers tests/models/fsmt: width 6, padding index 1, tokens at rows 2 and 3.
    got = table(tool, "rows", "sinusoidal", "--width=6", "--ladder=inclusive", "--count=2",
                "--layout=sin_cos_halves", "--position_offset=2", "--zero_row=1")
    np.testing.assert_allclose(got, [
        [9.0930e-01, 1.9999e-02, 2.0000e-04, -4.1615e-01, 9.9980e-01, 1.0000e+00],
        [1.4112e-01, 2.9995e-02, 3.0000e-04, -9.8999e-01, 9.9955e-01, 1.0000e+00]], atol=5.1e-6)


def test_roformer_published_rows(tool):
    # transformers tests/models/roformer: width 6, and rows 1 and 2 of width 512.
    def got(width, count):
        return table(tool, "rows", "sinusoidal", f"--width={width}", "--layout=sin_cos_halves",
                     f"--count={count}")
    np.testing.assert_allclose(got(6, 2), [
        [0, 0, 0, 1, 1, 1], [0.8415, 0.0464, 0.0022, 0.5403, 0.9989, 1.0000]], atol=5.1e-5)
    np.testing.assert_allclose(got(512, 3)[1:, :5], [
        [0.8415, 0.8219, 0.8020, 0.7819, 0.7617], [0.9093, 0.9364, 0.9581, 0.9749, 0.9870]],
        atol=5.1e-5)


def test_golden_rows(tool):
    # 50-digit arithmetic.
    plain = rows(tool, "sinusoidal --width=8", [1])[0]
    assert plain.tolist() == [float(x) for x in GOLDEN["sin_interleaved_paper_d8_pos1"]]
    words = "sinusoidal --width=8 --ladder=inclusive --layout=sin_cos_halves"
    assert rows(tool, words, [1])[0] == pytest.approx(
        [float(x) for x in GOLDEN["t2t_fairseq_d8_pos1"]], rel=2.0**-51)
    for ladder in ("inclusive", "timescales"):
        got = table(tool, "freqs", "sinusoidal", "--width=8", f"--ladder={ladder}").ravel()
        assert got == pytest.approx([float(x) for x in GOLDEN["t2t_fairseq_d8_freqs"]],
                                    rel=2.0**-52)


@pytest.mark.parametrize("flags,want", [
    (["--downscale_freq_shift=1"], [[0.9646, 0.9804, 0.9892], [0.9615, 0.9787, 0.9882],
                                    [0.9582, 0.9769, 0.9872]]),
    (["--downscale_freq_shift=0", "--flip_sin_to_cos=true"],
     [[0.3019, 0.2280, 0.1716], [0.3146, 0.2377, 0.1790], [0.3272, 0.2474, 0.1864]]),
    (["--downscale_freq_shift=1", "--scale=1000"],
     [[-0.9801, -0.9464, -0.9349], [-0.3952, 0.8887, -0.9709], [0.5299, -0.2853, -0.9927]]),
])
def test_diffusers_published_rows(tool, flags, want):
    # diffusers tests/models/test_layers_utils.py: rows 23 ... 25, columns 47 ... 49 of width 64.
    got = table(tool, "rows", "timestep", "--width=64", *flags, "--start=23", "--count=3")
    np.testing.assert_allclose(got[:, 47:50], want, atol=1e-3 if "--scale=1000" in flags else 1e-4)


@pytest.mark.parametrize("heads", GOLDEN["alibi"])
def test_golden_slopes(tool, heads):
    words = f"alibi --head_count={heads} --form=key_position"
    assert rows(tool, words, [1])[0] == pytest.approx(
        [float(x) for x in GOLDEN["alibi"][heads]], rel=2.0**-52)
    # 8 is the paper's.
    assert (rows(tool, words + " --bias_max=8", [1]) == rows(tool, words, [1])).all()
    assert (rows(tool, f"alibi --head_count={heads}", [-1]) == -rows(tool, words, [1])).all()


def test_golden_slopes_of_another_bias_max(tool):
    words = "alibi --head_count=6 --bias_max=16 --form=key_position"
    assert rows(tool, words, [1])[0].tolist() == [
        float(x) for x in GOLDEN["alibi_mpt_bias_max_16_n6"]]


def test_biases_of_distances_are_those_of_keys_but_for_one_number_a_query(tool):
    # BLOOM's for MPT's: the difference is the same for all keys, so softmax does not see it.
    of_keys = rows(tool, "alibi --head_count=12 --form=key_position", range(9))
    of_distances = rows(tool, "alibi --head_count=12", range(8, -1, -1))
    difference = of_keys - of_distances
    np.testing.assert_allclose(difference, np.broadcast_to(difference[0], difference.shape),
                               atol=1e-14)


def test_a_bias_that_is_an_infinity_is_no_row(tool):
    tool.refused("rows", "alibi", "--head_count=8", "--type=float16", "--start=131039", "--count=2",
                 "--local", names=["--count=2", "column 0", "FLOAT16"])


@pytest.mark.parametrize("buckets,distance", [
    (4, 16), (8, 20), (16, 64), (24, 100), (32, 800), (64, 128), (128, 512), (256, 4096)])
def test_buckets_are_those_of_a_float32_logarithm(tool, buckets, distance):
    positions = range(-2 * distance, 3)
    words = f"relative_buckets --num_buckets={buckets} --max_distance={distance}"
    agree(rows(tool, words + " --bidirectional=false", positions),
          t5(positions, False, buckets, distance))


def test_buckets_are_integers_in_every_format(tool):
    words = ["rows", "relative_buckets", "--start=-3", "--count=6", "--local"]
    assert tool.out(*words) == b"3\n2\n1\n0\n17\n18\n"
    array = tool.npy(*words)
    assert array.dtype == np.dtype("<i4") and array.shape == (6, 1)
    assert array.ravel().tolist() == [3, 2, 1, 0, 17, 18]
    assert tool.out(*words, "--format=raw") == array.tobytes()
    assert b"int32" in tool.out(*words, "--format=table").lower()
    assert b"relative_buckets" in tool.out("plot", "relative_buckets", "--count=40", "--local")


def test_buckets_have_no_fractional_positions(tool):
    tool.refused("gather", "relative_buckets", "--positions=0.5", "--local",
                 names=["--positions", "integers"])


def test_alibi_has_no_frequencies(tool):
    tool.refused("freqs", "alibi", "--head_count=8", "--local", names=["alibi"])


@pytest.mark.parametrize("width", [2, 3])
def test_one_pair_of_tensor2tensor_is_guarded(tool, width):
    odd = ["--odd_column=zero"] if width % 2 else []
    got = table(tool, "rows", "sinusoidal", f"--width={width}", "--ladder=timescales",
                "--min_timescale=2", "--layout=sin_cos_halves", *odd, "--type=float64",
                "--count=5")
    agree(got, tensor2tensor(5, width, 2.0, 1.0e4))


def test_transformer_xl_clamps_its_positions_itself(tool):
    # clamp_len = 4: positions beyond repeat that row.
    positions = [min(p, 4) for p in range(9, -1, -1)]
    agree(rows(tool, "sinusoidal --width=410 --layout=sin_cos_halves", positions),
          transformer_xl(positions, 410))


# ---------------------------------------------------------------- what is wrong names its flag

@pytest.mark.parametrize("words,flag", [
    ("sinusoidal --width=7", "--width=7"),
    ("sinusoidal --width=7 --odd_column=cosine", "--odd_column=cosine"),
    ("sinusoidal --width=8 --odd_column=zero", "--odd_column=zero"),
    ("sinusoidal --width=1 --odd_column=zero", "--width=1"),
    ("sinusoidal --width=7 --odd_column=sine --layout=cos_only", "--layout=cos_only"),
    ("sinusoidal --width=8 --min_timescale=2", "--min_timescale=2"),
    ("sinusoidal --width=8 --ladder=inclusive --max_timescale=2", "--max_timescale=2"),
    ("sinusoidal --width=8 --ladder=timescales --base=10000", "--base=10000"),
    ("sinusoidal --width=8 --ladder=timescales --min_timescale=0", "--min_timescale=0"),
    ("sinusoidal --width=8 --ladder=timescales --max_timescale=1", "--max_timescale=1"),
    ("rotary --width=7 --odd_column=zero", "--odd_column"),
    ("relative_buckets --num_buckets=3", "--num_buckets=3"),
    ("relative_buckets --max_distance=8", "--max_distance=8"),
    ("relative_buckets --bidirectional=yes", "--bidirectional=yes"),
    ("relative_buckets --type=float32", "--type=float32"),
    ("relative_buckets --width=1", "--width"),
    ("sinusoidal --width=8 --type=int32", "--type=int32"),
    ("alibi --bias_max=8", "--head_count"),
    ("alibi --head_count=0", "--head_count=0"),
    ("alibi --head_count=8 --bias_max=0", "--bias_max=0"),
    ("alibi --head_count=8 --form=key", "--form=key"),
    ("alibi --head_count=8 --width=8", "--width"),
    ("none --width=7", "--width=7"),
    ("none --width=8 --additive=true --layout=cos_only", "--layout=cos_only"),
    ("none --width=8 --base=2", "--base"),
    ("timestep --width=8", "--downscale_freq_shift"),
    ("timestep --width=2 --downscale_freq_shift=1", "--downscale_freq_shift=1"),
    ("timestep --width=1 --downscale_freq_shift=0", "--width=1"),
    ("timestep --width=8 --downscale_freq_shift=0 --scale=0", "--scale=0"),
    ("timestep --width=8 --downscale_freq_shift=0 --max_period=1", "--max_period=1"),
    ("timestep --width=8 --downscale_freq_shift=0 --flip_sin_to_cos=1", "--flip_sin_to_cos=1"),
    ("timestep --width=8 --downscale_freq_shift=0 --layout=cos_only", "--layout"),
])
def test_what_is_wrong_names_its_flag(tool, words, flag):
    tool.refused("table", *words.split(), "--local", names=[flag])
