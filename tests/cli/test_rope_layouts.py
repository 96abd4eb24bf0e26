"""Rotary tables in the form that each model of tests/golden/hf_rope_layouts.tsv keeps them in, and
turned by as that model's code does it: every pair of a head by its own angle."""

from pathlib import Path

import numpy as np
import pytest

TSV = Path(__file__).parents[1] / "golden" / "hf_rope_layouts.tsv"
WIDTH = 16
HALF = WIDTH // 2
POSITION = 4097

# The layout of each form; GPT-J's and CodeGen's has no name there.
LAYOUTS = {
    "table_dup_halves": "cos_sin_duplicated_halves",
    "table_dup_adjacent": "cos_sin_duplicated_pairs",
    "table_half_only": "cos_sin_halves",
    "table_complex": "cos_sin_interleaved",
    "sines_first": "sin_cos_halves",
}


def cases():
    found = set()
    for line in TSV.read_text().splitlines()[2:]:
        model, styles, _, forms = line.split("\t")
        if model in ("gptj", "codegen"):
            forms = "sines_first"
        for style in styles.split("|"):
            found |= {(style, form) for form in forms.split("|") if form in LAYOUTS and style}
    return sorted(found)


def cosines_and_sines(row, form):
    """What the model's code has of a row: [HALF] each, or [WIDTH] where it keeps copies."""
    if form == "table_complex":
        pairs = row.view(np.complex128)
        return pairs.real, pairs.imag
    first, second = np.split(row, 2)
    return (second, first) if form == "sines_first" else (first, second)


def turned_by_code(x, cos, sin, style):
    """x turned as transformers' functions do it."""
    if style == "interleaved_in_half_out":
        x = x.reshape(HALF, 2).T.reshape(-1)
        style = "half"
    if style in ("half", "half_negated_sin"):
        cos, sin = (v if v.size == WIDTH else np.tile(v, 2) for v in (cos, sin))
        rotated = np.concatenate([-x[HALF:], x[:HALF]])
        if style == "half_negated_sin":
            rotated = np.concatenate([x[HALF:], -x[:HALF]])
        return x * cos + rotated * sin
    if style == "interleaved_complex":
        pairs = x.view(np.complex128) * (cos[:HALF] + 1j * sin[:HALF])
        return pairs.view(np.float64)
    assert style == "interleaved"
    if cos.size == WIDTH and not (cos[0::2] == cos[1::2]).all():  # of halves: the first again
        cos, sin = np.repeat(cos[:HALF], 2), np.repeat(sin[:HALF], 2)
    if cos.size == HALF:
        cos, sin = np.repeat(cos, 2), np.repeat(sin, 2)
    rotated = np.stack([-x[1::2], x[0::2]], axis=-1).reshape(-1)
    return x * cos + rotated * sin


def turned_by_angles(x, style):
    """Pair i of x turned by POSITION * 10000^(-2i/WIDTH)."""
    angles = POSITION * 10000.0 ** (-np.arange(HALF) / HALF)
    is_half = style.startswith("half")
    pairs = x[:HALF] + 1j * x[HALF:] if is_half else x[0::2] + 1j * x[1::2]
    pairs = pairs * np.exp(1j * (-angles if style == "half_negated_sin" else angles))
    if is_half or style == "interleaved_in_half_out":
        return np.concatenate([pairs.real, pairs.imag])
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(-1)


@pytest.mark.parametrize("style,form", cases())
def test_rows_turn_heads_as_the_model_s_code_does(tool, style, form):
    text = tool.out("rows", "rotary", f"--width={WIDTH}", f"--layout={LAYOUTS[form]}",
                    f"--start={POSITION}", "--count=1", "--type=float64", "--local")
    row = np.array([float(x) for x in text.decode().split(",")])
    x = np.random.default_rng(4).standard_normal(WIDTH)
    np.testing.assert_allclose(turned_by_code(x, *cosines_and_sines(row, form), style),
                               turned_by_angles(x, style), rtol=0, atol=1e-11)


def test_every_form_of_the_list_is_known():
    forms = {form for line in TSV.read_text().splitlines()[2:]
             for form in line.split("\t")[3].split("|")}
    # fp32_out is about the type of what is turned.
    assert forms - {"", "fp32_out"} == set(LAYOUTS) - {"sines_first"}
    assert len(cases()) >= 9, cases()
