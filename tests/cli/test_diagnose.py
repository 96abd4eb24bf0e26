"""`phasor diagnose`: wrong tables, made here after the mistakes that others made, and whether
they are recognised. The right ones come from mpmath (exact_tables)."""

import json
import math

import exact_tables
import numpy as np
import pytest
import torch

ROWS = 600


class Case:
    """A table that should be `flags`, the faults that have to be found, and its rows."""

    def __init__(self, flags, faults, rows, value=None, words="", config=None):
        self.flags, self.faults, self.rows = flags, faults, rows
        self.value, self.words, self.config = value, words, config


# ---------------------------------------------------------------- rows, by NumPy in float64

def place(sines, cosines, layout):
    pairs = {"s": sines, "c": cosines}
    if layout in ("sc_int", "cs_int"):
        return np.stack([pairs[layout[0]], pairs[layout[1]]], axis=-1).reshape(len(sines), -1)
    return {
        "sc": lambda: np.concatenate([sines, cosines], 1),
        "cs": lambda: np.concatenate([cosines, sines], 1),
        "cc_ss": lambda: np.concatenate([cosines, cosines, sines, sines], 1),
        "c0c0": lambda: np.concatenate([cosines.repeat(2, 1), sines.repeat(2, 1)], 1),
        "c": lambda: cosines,
        "s": lambda: sines,
        "cc": lambda: np.concatenate([cosines, cosines], 1),
        "ss_pairs": lambda: sines.repeat(2, 1),
    }[layout]()


def ladder(width, base=1e4, over=None):
    return base ** (-np.arange(width // 2) / (over or width / 2))


def table(frequencies, layout, positions=None, factor=1.0, sign=1.0):
    positions = np.arange(ROWS) if positions is None else np.asarray(positions)
    angles = np.outer(positions, frequencies)
    return place(sign * factor * np.sin(angles), factor * np.cos(angles), layout)


def llama3(b, factor=8.0, low=1.0, high=4.0, original=8192):
    turns = original * b / (2 * np.pi)
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return b * ((1 - smooth) / factor + smooth)


def yarn(width, base, factor, original, fast=32.0, slow=1.0, truncate=True):
    correction = lambda beta: (  # noqa: E731
        width * math.log(original / (beta * 2 * math.pi)) / (2 * math.log(base)))
    low, high = correction(fast), correction(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    ramp = np.clip((np.arange(width // 2) - low) / (high - low), 0, 1)
    b = ladder(width, base)
    return b * (1 - ramp) + b / factor * ramp


SIN = "sinusoidal --width=64"
ROPE = "rotary --width=64"
LLAMA31 = ("rotary --width=128 --base=500000 --scaling=llama3 --factor=8 --low_freq_factor=1 "
           "--high_freq_factor=4 --original_max_position_embeddings=8192")
QWEN = ("rotary --width=128 --base=1e6 --scaling=yarn --factor=4 "
        "--original_max_position_embeddings=32768")
YARN_FACTOR = 0.1 * math.log(4) + 1
GPT_OSS = ("rotary --width=64 --base=150000 --scaling=yarn --factor=32 "
           "--original_max_position_embeddings=4096 --truncate=false")
GPT_OSS_FACTOR = 0.1 * math.log(32) + 1
LONG = "rotary --width=8 --scaling=longrope --short_factor=1,1.1,1.2,1.3 --long_factor=1,2,4,8 " \
       "--original_max_position_embeddings=4096 --attention_factor=1"
P = np.arange(ROWS)
F32 = np.float32


def float32_sinusoidal(width, rows):
    """As most implementations: exp(i * -ln(10000)/d) and angles in float32."""
    p = torch.arange(rows, dtype=torch.float32)[:, None]
    w = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10000.0) / width))
    return place(torch.sin(p * w).numpy(), torch.cos(p * w).numpy(), "sc_int")


def torch_rope(dtype, width, base, rows):
    inverse = (1.0 / (base ** (torch.arange(0, width, 2, dtype=torch.float32) / width))).to(dtype)
    angles = torch.arange(rows).to(dtype)[:, None] * inverse
    assert angles.dtype == dtype
    angles = angles.float()
    return torch.cat([angles.cos(), angles.sin()], 1).numpy()


def running_product(width, base, rows):
    """ggml: the angle of each pair is that of the pair before, times a float32."""
    scale = F32(base) ** F32(-2.0 / width)
    angle = np.arange(rows, dtype=F32)
    angles = []
    for _ in range(width // 2):
        angles.append(angle)
        angle = angle * scale
    angles = np.stack(angles, 1)
    return np.concatenate([np.cos(angles), np.sin(angles)], 1)


CASES = {
    # Another base, found and told.
    "another base": Case(ROPE, ["base"], table(ladder(64, 5e5), "cs"), 500000),
    "a base of no model": Case(SIN, ["base"], table(ladder(64, 12345.0), "sc_int"), 12345),
    "another base under llama3": Case(LLAMA31, ["base"], table(llama3(ladder(128)), "cs"), 10000),
    "another base of wide rows": Case("rotary --width=512 --base=1e6", ["base"],
                                      table(ladder(512), "cs"), 10000),
    # Ladders.
    "inclusive for paper": Case(SIN, ["ladder"], table(ladder(64, over=31), "sc_int"),
                                words="inclusive"),
    "paper for inclusive": Case(f"{SIN} --ladder=inclusive --layout=sin_cos_halves", ["ladder"],
                                table(ladder(64), "sc"), words="paper"),
    "inclusive for paper, rotary": Case(ROPE, ["ladder"], table(ladder(64, over=31), "cs"),
                                        words="inclusive"),
    "exponent i/d": Case(SIN, ["exponent_half"], table(ladder(64, over=64), "sc_int"),
                         words="i/d instead of 2i/d"),
    "exponent i/d, rotary": Case(ROPE, ["exponent_half"], table(ladder(64, over=64), "cs")),
    "the head's width in the exponent": Case(
        "rotary --width=32", ["exponent_width"], table(ladder(32, over=64), "cs"), words="128"),
    "the head's width, four tenths": Case(
        "rotary --width=32", ["exponent_width"], table(ladder(32, over=40), "cs"), words="80"),
    "the turned part's width for the whole": Case(
        "rotary --width=64 --scaling=proportional --partial_rotary_factor=0.25", ["exponent_width"],
        table(np.where(np.arange(32) < 8, 1e4 ** (-np.arange(32) / 8), 0), "cs"), words="16"),
    "min_timescale divides": Case(
        "sinusoidal --width=64 --ladder=timescales --min_timescale=2 --layout=sin_cos_halves",
        ["ladder"], table((2 * (1e4 / 2) ** (-np.arange(32) / 31)) / 4, "sc"),
        words="min_timescale"),
    "timestep shift 1 for 0": Case(
        "timestep --width=64 --downscale_freq_shift=0", ["ladder"],
        table(ladder(64, over=31), "sc"), words="downscale_freq_shift is 1, not 0"),
    # Layouts.
    "halves for interleaved": Case(SIN, ["layout"], table(ladder(64), "sc"),
                                   words="SIN_COS_HALVES"),
    "interleaved for halves": Case(f"{SIN} --layout=sin_cos_halves", ["layout"],
                                   table(ladder(64), "sc_int"), words="SIN_COS_INTERLEAVED"),
    "duplicated pairs for duplicated halves": Case(
        f"{ROPE} --layout=cos_sin_duplicated_halves", ["layout"], table(ladder(64), "c0c0"),
        words="COS_SIN_DUPLICATED_PAIRS"),
    "duplicated halves for duplicated pairs": Case(
        f"{ROPE} --layout=cos_sin_duplicated_pairs", ["layout"], table(ladder(64), "cc_ss")),
    "one half alone": Case(ROPE, ["layout"], table(ladder(64), "c"), words="COS_ONLY"),
    "duplicated for single": Case(ROPE, ["layout"], table(ladder(64), "cc_ss")),
    "cosines twice": Case(ROPE, ["layout"], table(ladder(64), "cc"), words="[c... | c...]"),
    "sines in pairs": Case(ROPE, ["layout"], table(ladder(64), "ss_pairs"), words="[s0 s0"),
    "sine first, GPT-J": Case(ROPE, ["swapped"], table(ladder(64), "sc")),
    "cosine first, MusicGen": Case(f"{SIN} --ladder=inclusive --layout=sin_cos_halves", ["swapped"],
                                   table(ladder(64, over=31), "cs")),
    "swapped in pairs": Case(SIN, ["swapped"], table(ladder(64), "cs_int")),
    "swapped single": Case(f"{ROPE} --layout=cos_only", ["swapped"], table(ladder(64), "s")),
    "sign of sine, nanochat": Case(ROPE, ["sine_sign"], table(ladder(64), "cs", sign=-1.0)),
    # Positions.
    "one position late": Case(SIN, ["positions"], table(ladder(64), "sc_int", P - 1), -1),
    "one position early": Case(ROPE, ["positions"], table(ladder(64), "cs", P + 1), 1),
    "fairseq's two": Case(f"{SIN} --ladder=inclusive --layout=sin_cos_halves", ["positions"],
                          table(ladder(64, over=31), "sc", P + 2), 2),
    "two forgotten": Case(
        f"{SIN} --ladder=inclusive --layout=sin_cos_halves --position_offset=2", ["positions"],
        table(ladder(64, over=31), "sc"), -2),
    "far ahead": Case(ROPE, ["positions"], table(ladder(64), "cs", P + 1000), 1000),
    "far ahead, only cosines": Case(f"{ROPE} --layout=cos_only", ["positions"],
                                    table(ladder(64), "c", P + 1), 1),
    "descending": Case(SIN, ["descending"], table(ladder(64), "sc_int", ROWS - 1 - P), ROWS - 1),
    "offset ignored": Case(SIN, ["constant_rows"], table(ladder(64), "sc_int", 0 * P), 0),
    "positions halved": Case(ROPE, ["frequency_scale"], table(ladder(64), "cs", P / 2), 2),
    # Scalings.
    "linear not applied": Case(f"{ROPE} --scaling=linear --factor=4", ["scaling_missing"],
                               table(ladder(64), "cs")),
    "linear applied twice": Case(f"{ROPE} --scaling=linear --factor=4", ["scaling_twice"],
                                 table(ladder(64) / 16, "cs")),
    "llama3 not applied": Case(LLAMA31, ["scaling_missing"], table(ladder(128, 5e5), "cs")),
    "llama3 applied twice": Case(LLAMA31, ["scaling_twice"],
                                 table(llama3(llama3(ladder(128, 5e5))), "cs")),
    "llama3 with another length": Case(
        LLAMA31, ["scaling"], table(llama3(ladder(128, 5e5), original=131072), "cs"),
        words="131072"),
    "ntk for linear": Case(f"{ROPE} --scaling=linear --factor=4", ["scaling"],
                           table(ladder(64, 1e4 * 4 ** (32 / 31)), "cs"), words="ntk by 4"),
    "ntk not applied": Case(f"{ROPE} --scaling=ntk --factor=8", ["scaling_missing"],
                            table(ladder(64), "cs")),
    "dynamic at its length": Case(
        f"{ROPE} --scaling=dynamic_ntk --factor=2 --max_position_embeddings=2048 "
        "--sequence_length=8192", ["scaling_missing"], table(ladder(64), "cs")),
    "yarn not applied, nor its factor": Case(QWEN, ["scaling_missing"],
                                             table(ladder(128, 1e6), "cs")),
    "yarn without its attention factor": Case(
        QWEN, ["factor"], table(yarn(128, 1e6, 4, 32768), "cs"), 1, words="not applied"),
    "the attention factor twice": Case(
        QWEN, ["factor"], table(yarn(128, 1e6, 4, 32768), "cs", factor=YARN_FACTOR**2),
        words="twice"),
    "truncated gpt-oss, llama.cpp": Case(
        GPT_OSS, ["scaling"], table(yarn(64, 150000, 32, 4096), "cs", factor=GPT_OSS_FACTOR),
        words="truncate is true"),
    "yarn of four times the length, vLLM's M-RoPE": Case(
        QWEN, ["scaling"], table(yarn(128, 1e6, 4, 4 * 32768), "cs", factor=YARN_FACTOR),
        words="131072"),
    "yarn with fixed betas, TGI": Case(
        f"{QWEN} --beta_fast=16 --beta_slow=2", ["scaling"],
        table(yarn(128, 1e6, 4, 32768), "cs", factor=YARN_FACTOR), words="32 and 1"),
    "short for long factors": Case(
        f"{LONG} --sequence_length=8192", ["scaling"],
        table(ladder(8) / [1, 1.1, 1.2, 1.3], "cs"), words="short_factor"),
    "long for short factors": Case(
        f"{LONG} --sequence_length=4096", ["scaling"], table(ladder(8) / [1, 2, 4, 8], "cs"),
        words="long_factor"),
    # Two mistakes at once.
    "base and layout": Case(SIN, ["layout", "base"], table(ladder(64, 5e5), "sc")),
    "layout and late": Case(SIN, ["layout", "positions"], table(ladder(64), "sc", P - 1)),
    "inclusive, halves and two": Case(SIN, ["layout", "ladder", "positions"],
                                      table(ladder(64, over=31), "sc", P + 2)),
    # Angles of lesser precision.
    "float32 angles": Case(SIN, ["float32_angles"], float32_sinusoidal(64, 4000)),
    "float32 angles, rotary": Case(ROPE, ["float32_angles"],
                                   torch_rope(torch.float32, 64, 10000.0, 4000)),
    "bfloat16 angles": Case(ROPE, ["bfloat16_angles"],
                            torch_rope(torch.bfloat16, 64, 10000.0, 4000)),
    "float16 angles": Case(ROPE, ["float16_angles"],
                           torch_rope(torch.float16, 64, 10000.0, 4000)),
    "a running product, ggml": Case("rotary --width=128", ["float32_product"],
                                    running_product(128, 10000.0, 30000)),
    "float32 angles of another base": Case(ROPE, ["base", "float32_angles"],
                                           torch_rope(torch.float32, 64, 5e5, 4000), 500000),
}


def diagnose(tool, rows, flags, *more, dtype="<f4"):
    np.save(tool.directory / "table.npy", np.ascontiguousarray(rows).astype(dtype))
    done = tool.run("diagnose", "table.npy", *flags.split(), *more)
    return done, done.stdout.decode()


def faults_of(text):
    return [line.rsplit("[", 1)[1].rstrip("]") for line in text.splitlines()
            if line.startswith("wrong: ") and line.endswith("]")]


@pytest.mark.parametrize("name", CASES)
def test_the_mistake_is_found(tool, name):
    case = CASES[name]
    done, text = diagnose(tool, case.rows, case.flags)
    assert done.returncode == 2, done
    assert faults_of(text) == case.faults, text
    assert case.words in text
    if case.value is not None:
        assert f" {case.value:g}" in text.replace("- ", "-") or f" {case.value}" in text
    assert "sure: certain" in text or "sure: likely" in text, text
    assert done.stderr.count(b"\n") == 1


EXACT = {
    "sinusoidal --width=8": dict(width=8),
    "sinusoidal --width=8 --layout=sin_cos_halves --ladder=inclusive": dict(
        width=8, layout="sin_cos_halves", ladder="inclusive"),
    "sinusoidal --width=8 --position_offset=2 --zero_row=2": dict(
        width=8, position_offset=2, zero_row=2),
    "rotary --width=8 --base=500000 --layout=cos_sin_duplicated_pairs": dict(
        width=8, base=500000.0, layout="cos_sin_duplicated_pairs"),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("flags", EXACT)
def test_a_table_that_is_right_is_exact(tool, flags, dtype):
    right = exact_tables.sinusoidal(range(40), element_type=dtype, **EXACT[flags])
    if dtype == "bfloat16":
        bits = (right.astype("<f4").view("<u4") >> 16).astype("<u2")
        np.save(tool.directory / "table.npy", bits)
        assert b"exact: all" in tool.out("diagnose", "table.npy", *flags.split(), "--type=bfloat16")
        # As numpy saves ml_dtypes' bfloat16.
        np.save(tool.directory / "table.npy", bits.view("V2"))
        assert b"exact: all" in tool.out("diagnose", "table.npy", *flags.split())
        # Or kept as float32.
        np.save(tool.directory / "table.npy", right.astype("<f4"))
        out = tool.out("diagnose", "table.npy", *flags.split())
        assert b"exact: all" in out and b"bfloat16" in out
        return
    np.save(tool.directory / "table.npy", right.astype(exact_tables.NPY_TYPES[dtype]))
    assert b"exact: all" in tool.out("diagnose", "table.npy", *flags.split())


def test_the_first_and_the_largest_difference(tool):
    right = exact_tables.sinusoidal(range(100, 200), width=8).astype("<f4")
    right[30, 5] = np.nextafter(right[30, 5], F32(2))
    right[60, 2] += F32(0.25)
    done, text = diagnose(tool, right, "sinusoidal --width=8", "--start=100")
    assert done.returncode == 2
    assert faults_of(text) == ["elements"]
    assert "first: position 130 (row 30), column 5" in text
    assert ": 1 unit in the last place" in text
    assert "largest: position 160 (row 60), column 2" in text
    assert "different: 2 of 800 elements" in text


def test_float64_angles_are_a_matter_of_rounding(tool):
    p = np.arange(3900, 4300)
    done, text = diagnose(tool, table(ladder(512), "sc_int", p), "sinusoidal --width=512",
                          "--start=3900")
    assert faults_of(text) == ["rounding"], text
    assert "first: position 3902" in text and "1 unit in the last place" in text
    # Of float64, cosines near zero are off by many units in their own last place.
    _, text = diagnose(tool, table(ladder(64), "sc_int", np.arange(2048)), SIN, dtype="<f8")
    assert faults_of(text) == ["rounding"], text


def test_rows_of_zeros(tool):
    rows = table(ladder(64, over=31), "sc")
    flags = f"{SIN} --ladder=inclusive --layout=sin_cos_halves"
    rows[1] = 0
    _, text = diagnose(tool, rows, flags)
    assert faults_of(text)[-1] == "zero_row" and "row 1 is all zero" in text
    # A padding row that is none.
    right = exact_tables.sinusoidal(range(40), width=8, position_offset=2)
    _, text = diagnose(tool, right, "sinusoidal --width=8 --position_offset=2 --zero_row=2")
    assert faults_of(text) == ["zero_row"] and "row 0 is a padding row" in text


def test_nan_is_told(tool):
    with np.errstate(invalid="ignore", divide="ignore"):
        # diffusers of width 2 and shift 1: 0/0.
        w = np.exp(-math.log(10000) * np.arange(1) / np.float64(0))
    assert np.isnan(w).all()
    _, text = diagnose(tool, table(w, "sc"), "timestep --width=2 --downscale_freq_shift=0")
    assert faults_of(text) == ["not_finite"] and "1200 elements" in text
    assert "sure: certain" in text


def test_frequencies_of_no_ladder_are_told(tool):
    w = ladder(64)
    w[5:] *= np.linspace(0.9, 0.5, 27)
    _, text = diagnose(tool, table(w, "cs"), ROPE)
    assert faults_of(text) == ["frequencies"]
    assert "27 of 32 differ, the first pair 5" in text


def test_noise_is_not_explained(tool):
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 64))
    done, text = diagnose(tool, rows, SIN)
    assert (done.returncode, faults_of(text)) == (2, [])
    assert "sure: unknown" in text and "no mistake that is known" in text


def test_a_table_of_zeros(tool):
    _, text = diagnose(tool, np.zeros((10, 64)), SIN)
    assert faults_of(text) == ["elements"] and "all zero" in text


def test_constant_rows_of_nothing_are_not_explained(tool):
    _, text = diagnose(tool, np.full((60, 64), 3e38), SIN)
    assert "sure: unknown" in text


def test_fractional_positions(tool):
    _, text = diagnose(tool, table(ladder(64), "cs", P + 0.5), ROPE)
    assert faults_of(text) == ["positions"] and "p + 0.5" in text


def test_bfloat16_kept_as_float32(tool):
    rows = torch.tensor(table(ladder(128), "cs")).bfloat16().float().numpy()
    _, text = diagnose(tool, rows, "rotary --width=128 --base=500000")
    assert faults_of(text) == ["base"] and "10 units in the last place" in text
    assert "note: all values that were looked at are bfloat16" in text


def test_few_rows_leave_it_open(tool):
    _, text = diagnose(tool, table(ladder(8, 5e5), "sc_int")[:3], "sinusoidal --width=8")
    assert "sure: possible" in text


# ---------------------------------------------------------------- other schemes

def slopes(heads):
    """get_slopes of Press et al.'s transformer.py."""
    def power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start ** i for i in range(n)]
    if math.log2(heads).is_integer():
        return power_of_2(heads)
    closest = 2 ** math.floor(math.log2(heads))
    return power_of_2(closest) + slopes(2 * closest)[0::2][:heads - closest]


def buckets(relative, bidirectional, count=32, most=128):
    """T5Attention._relative_position_bucket."""
    relative = np.asarray(relative)
    result = np.zeros_like(relative)
    if bidirectional:
        count //= 2
        result += (relative > 0) * count
        relative = np.abs(relative)
    else:
        relative = -np.minimum(relative, 0)
    exact = count // 2
    with np.errstate(divide="ignore"):
        scaled = np.log(relative.astype(F32) / F32(exact)) / F32(math.log(most / exact))
    large = exact + np.maximum(scaled * F32(count - exact), 0).astype(int)
    return (result + np.where(relative < exact, relative, np.minimum(large, count - 1)))[:, None]


KEYS = "alibi --head_count=12 --form=key_position"
BIAS = np.outer(P, slopes(12))
OTHERS = {
    "alibi, minus distances": Case(KEYS, ["variant"], -BIAS, words="minus slopes"),
    "alibi, keys for distances": Case("alibi --head_count=12", ["variant"], BIAS),
    "alibi, MPT's constant": Case(KEYS, ["positions"], BIAS - np.array(slopes(12)) * 599,
                                  words="position - 599"),
    "alibi, Falcon's division": Case(KEYS, ["factor"], BIAS / 8, 8),
    "alibi, slopes in bfloat16": Case(
        KEYS, ["bfloat16_angles"],
        np.outer(P, torch.tensor(slopes(12)).bfloat16().double().numpy())),
    "alibi, the first of sixteen": Case(KEYS, ["variant"], np.outer(P, slopes(16)[:12]),
                                        words="the first ones of 16"),
    "alibi, as if a power of two": Case(KEYS, ["variant"],
                                        np.outer(P, 2.0 ** (-8 * np.arange(1, 13) / 12))),
    "alibi, another bias_max": Case(KEYS + " --bias_max=16", ["variant"], BIAS,
                                    words="bias_max is 8"),
    "alibi, one late": Case(KEYS, ["positions"], BIAS - np.array(slopes(12)), -1),
}


@pytest.mark.parametrize("name", OTHERS)
def test_alibi(tool, name):
    case = OTHERS[name]
    done, text = diagnose(tool, case.rows, case.flags)
    assert (done.returncode, faults_of(text)) == (2, case.faults), text
    assert case.words in text and "sure: certain" in text


@pytest.mark.parametrize("flags,rows,faults,words", [
    ("", buckets(np.arange(-300, 300), False), ["variant"], "of one direction"),
    ("--bidirectional=false", buckets(np.arange(-300, 300), True), ["variant"], "bidirectional"),
    ("", buckets(-np.arange(-300, 300), True), ["sine_sign"], "other sign"),
    ("", buckets(np.arange(-300, 300), True, 64, 256), ["variant"], "max_distance 256"),
    ("", buckets(np.arange(-299, 301), True), ["positions"], "p + 1"),
])
def test_relative_buckets(tool, flags, rows, faults, words):
    _, text = diagnose(tool, rows, "relative_buckets " + flags, "--start=-300", dtype="<i4")
    assert faults_of(text) == faults and words in text
    right = buckets(np.arange(-300, 300), "false" not in flags)
    done, _ = diagnose(tool, right, "relative_buckets " + flags, "--start=-300", dtype="<i4")
    assert done.returncode == 0


# ---------------------------------------------------------------- configurations

GEMMA3 = {
    "model_type": "gemma3_text", "head_dim": 64, "num_hidden_layers": 12,
    "sliding_window_pattern": 6, "rope_theta": 1e6, "rope_local_base_freq": 3e4,
    "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "max_position_embeddings": 131072,
}


def test_the_other_table_of_the_model(tool):
    (tool.directory / "config.json").write_text(json.dumps(GEMMA3))
    flags = "--config=config.json --table=full_attention"
    _, text = diagnose(tool, table(ladder(64, 3e4), "cs"), flags)
    assert faults_of(text) == ["other_table"] and "sliding_attention" in text
    _, text = diagnose(tool, table(ladder(64, 1e6), "cs"), flags)
    assert faults_of(text) == ["scaling_missing"]
    done, text = diagnose(tool, table(ladder(64, 1e6) / 8, "cs"), flags)
    assert faults_of(text) in ([], ["rounding"]), text


def test_the_table_of_another_version(tool):
    config = {"model_type": "qwen2", "hidden_size": 1024, "num_attention_heads": 8,
              "rope_theta": 1e6, "max_position_embeddings": 131072, "rope_scaling": {
                  "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}
    (tool.directory / "config.json").write_text(json.dumps(config))
    # 4.46 takes max_position_embeddings for the original length: schemes differ by the ramp.
    rows = table(yarn(128, 1e6, 4, 131072), "cs", factor=YARN_FACTOR)
    done = tool.run("diagnose", "table.npy", "--config=config.json")
    _, text = diagnose(tool, rows, "--config=config.json")
    assert "transformers 4.46" in text or "131072" in text


# ---------------------------------------------------------------- files that are odd

def test_shapes_of_buffers_are_rows(tool):
    right = exact_tables.sinusoidal(range(10), width=8)
    for shape in ((1, 10, 8), (10, 1, 8), (1, 10, 1, 8)):
        done, _ = diagnose(tool, right.reshape(shape), "sinusoidal --width=8")
        assert done.returncode == 0
    done, _ = diagnose(tool, right[0], "sinusoidal --width=8")
    assert done.returncode == 0


@pytest.mark.parametrize("array,said", [
    (np.zeros((2, 3, 8), "<f4"), "shape [2, 3, 8] is not [rows, columns]"),
    (np.zeros((), "<f4"), "shape [] is not"),
    (np.zeros((0, 8), "<f4"), "without rows"),
    (np.zeros((8, 0), "<f4"), "without elements"),
    (np.zeros((1, 200000), "<f4"), "rows of 200000 elements"),
    (np.zeros((4, 8), ">f4"), "holds >f4"),
    (np.zeros((4, 8), "<i8"), "holds <i8"),
    (np.zeros((4, 8), "<i4"), "INT32 elements"),
    (np.zeros((4, 8), "<u2"), "--type=bfloat16"),
    (np.zeros((4, 8), "<c8"), "holds <c8"),
    (np.zeros((4, 8), "|S4"), "holds |S4"),
    (np.asfortranarray(np.zeros((4, 8), "<f4")), "ascontiguousarray"),
])
def test_a_file_of_another_kind_is_refused(tool, array, said):
    np.save(tool.directory / "odd.npy", array)
    tool.refused("diagnose", "odd.npy", "sinusoidal", "--width=8", names=["odd.npy", said])


def test_what_is_no_npy_is_refused(tool):
    for name, content in (("empty.npy", b""), ("text.npy", b"1,2,3\n"),
                          ("giant.npy", b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + (
                              b"{'descr': '<f4', 'fortran_order': False, 'shape': "
                              b"(1099511627776, 65536), }").ljust(117) + b"\n")):
        (tool.directory / name).write_bytes(content)
        tool.refused("diagnose", name, "sinusoidal", "--width=8", names=[name])
        tool.refused("diagnose", "-", "sinusoidal", "--width=8", input=content, names=["--input=-"])
    tool.refused("diagnose", "absent.npy", "sinusoidal", "--width=8", status=1,
                 names=["absent.npy"])
    tool.refused("diagnose", "sinusoidal", "--width=8", names=["no scheme given"])
    tool.refused("diagnose", "--width=8", names=["no scheme given"])
    np.save(tool.directory / "table.npy", np.zeros((4, 8), "<f4"))
    tool.refused("diagnose", "table.npy", "sinusoidal", "--width=7", names=["--width=7"])
    tool.refused("diagnose", "table.npy", "sinusoidal", "--width=8", "--start=9007199254740992",
                 names=["table.npy"])
    tool.refused("diagnose", "table.npy", "sinusoidal", "--width=8", "--server=x",
                 names=["--server"])


def test_another_number_of_columns_is_told(tool):
    for columns in (7, 12, 5):
        done, text = diagnose(tool, np.ones((9, columns)), "sinusoidal --width=8")
        assert done.returncode == 2
        assert f"a row has {columns} elements" in text


def test_a_pipe_is_read(tool):
    right = exact_tables.sinusoidal(range(10), width=8).astype("<f4")
    np.save(tool.directory / "table.npy", right)
    content = (tool.directory / "table.npy").read_bytes()
    assert b"exact" in tool.out("diagnose", "-", "sinusoidal", "--width=8", input=content)
    tool.refused("diagnose", "-", "sinusoidal", "--width=8", input=content[:-1],
                 names=["is it complete"])
    tool.refused("diagnose", "-", "sinusoidal", "--width=8", input=content + b"x",
                 names=["goes on"])


@pytest.mark.parametrize("width", [7, 9])
@pytest.mark.parametrize("odd", ["zero", "sine"])
def test_odd_widths(tool, width, odd):
    pairs = (width + (odd == "sine")) // 2
    over = width / 2 if odd == "sine" else pairs
    w = 1e4 ** (-np.arange(pairs) / over)
    sines, cosines = np.sin(np.outer(P, w)), np.cos(np.outer(P, w))
    rows = (np.concatenate([sines, cosines[:, :width - pairs]], 1) if odd == "sine"
            else np.concatenate([sines, cosines, 0 * P[:, None]], 1))
    flags = f"sinusoidal --width={width} --odd_column={odd}"
    _, text = diagnose(tool, rows, flags)
    assert faults_of(text) == ["layout"], text
    _, text = diagnose(tool, rows, f"{flags} --layout=sin_cos_halves")
    assert faults_of(text) in (["rounding"], []), text
