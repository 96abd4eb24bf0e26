"""Rotary tables: against the formulas in mpmath and published values; here, and from a server."""

import asyncio
import dataclasses
import json

import numpy as np
import pytest

import exact_rotary
import exact_tables
import phasor_tables
from conftest import TESTS, values
from exact_tables import assert_same_bits
from phasor_tables import (DynamicNtkScaling, LinearScaling, Llama3Scaling, LongRopeScaling,
                           NtkScaling, ProportionalScaling, Rotary, YarnScaling, aio, errors, local)

GOLDEN = json.loads((TESTS / "golden" / "schemes.json").read_text())
POSITIONS = [0, 1, -7, 131071, 2**53]

LLAMA31 = Rotary(128, 500000, Llama3Scaling(8, 1, 4, 8192))
GPT_OSS = Rotary(64, 150000, YarnScaling(32, 4096, truncate=False))
DEEPSEEK_V3 = Rotary(64, scaling=YarnScaling(40, 4096, mscale=1.0, mscale_all_dim=1.0))
QWEN25 = Rotary(128, 1e6, YarnScaling(4, 32768))
DYNAMIC = Rotary(128, scaling=DynamicNtkScaling(2, 4096, 8192))
PHI3 = Rotary(96, scaling=LongRopeScaling([1.0] * 48, [1.5] * 48, 4096, 1, factor=32))

SPECS = {
    "plain": Rotary(12),
    "base": Rotary(12, 1e6),
    "attention_factor": Rotary(12, attention_factor=1.25),
    "linear": Rotary(12, scaling=LinearScaling(3)),
    "ntk": Rotary(12, scaling=NtkScaling(2.5)),
    "dynamic": Rotary(12, scaling=DynamicNtkScaling(2, 4096, 10000)),
    "dynamic, short": Rotary(12, scaling=DynamicNtkScaling(2, 4096, 100)),
    "yarn": Rotary(64, 1e6, YarnScaling(4, 32768)),
    "yarn, all set": Rotary(64, 1e6, YarnScaling(4, 32768, 16.0, 2.0, 0.7, 0.9, False)),
    "longrope, short": Rotary(4, scaling=LongRopeScaling([1, 2], [3, 4.5], 4096, 4096, 8)),
    "longrope, long": Rotary(4, scaling=LongRopeScaling([1, 2], [3, 4.5], 4096, 4097, 8)),
    "longrope, own factor": Rotary(
        4, scaling=LongRopeScaling([1, 2], [3, 4.5], 4096, 4097), attention_factor=1.5),
    "llama3": Rotary(64, 500000, Llama3Scaling(8, 1, 4, 8192)),
    "proportional": Rotary(16, 1e6, ProportionalScaling(0.25, 2)),
    "proportional, all default": Rotary(16, 1e6, ProportionalScaling()),
    "explicit": Rotary(4, frequencies=np.array([0.3, 0.0])),
}


@pytest.mark.parametrize("name", SPECS)
def test_every_scaling_is_the_rounded_formula(opener, name):
    table = opener.open(SPECS[name])
    assert_same_bits(values(table.gather(POSITIONS)), exact_rotary.rows(SPECS[name], POSITIONS))
    assert np.array(table.frequencies()).tolist() == [
        float(w) for w in exact_rotary.frequencies(SPECS[name])]
    assert table.attention_factor == float(exact_rotary.attention_factor(SPECS[name]))


@pytest.mark.parametrize("layout", exact_tables.LAYOUTS)
@pytest.mark.parametrize("element_type", exact_tables.FORMATS)
def test_every_layout_and_type(opener, layout, element_type):
    spec = dataclasses.replace(GPT_OSS, layout=layout, element_type=element_type)
    table = opener.open(spec)
    assert_same_bits(values(table.read(4095, 2), element_type), exact_rotary.rows(spec, [4095, 4096]))


@pytest.mark.parametrize("spec, golden", [
    (LLAMA31, GOLDEN["llama3.1_inv_freq_theta5e5_d128_f8_lf1_hf4_M8192"]),
    (GPT_OSS, GOLDEN["gpt_oss_yarn_notrunc"]["inv_freq"]),
    (DEEPSEEK_V3, GOLDEN["deepseek_v3_yarn"]["inv_freq"]),
    (QWEN25, GOLDEN["qwen2.5_yarn_f4_M32768_theta1e6_d128"]["inv_freq"]),
    (DYNAMIC, GOLDEN["dynamic_ntk_llama2_f2_L8192_M4096_theta1e4_d128"]["inv_freq"]),
])
def test_frequencies_of_models_are_the_golden_ones(opener, spec, golden):
    got = np.array(opener.open(spec).frequencies())
    for index, want in golden.items():  # to the 17 digits printed there
        assert got[int(index)] == pytest.approx(float(want), rel=2.0**-52)


@pytest.mark.parametrize("spec, golden", [
    (GPT_OSS, GOLDEN["gpt_oss_yarn_notrunc"]["attn"]),
    (DEEPSEEK_V3, GOLDEN["deepseek_v3_yarn"]["cos_sin_scale_mscale1_alldim1"]),
    (dataclasses.replace(DEEPSEEK_V3, scaling=YarnScaling(40, 4096)),
     GOLDEN["deepseek_v3_yarn"]["plain_yarn_attn_f40"]),
    (QWEN25, GOLDEN["qwen2.5_yarn_f4_M32768_theta1e6_d128"]["attn"]),
    (PHI3, GOLDEN["phi3_128k_longrope_attn_M4096_s32"]),
    (LLAMA31, "1"),
])
def test_attention_factors_of_models_are_the_golden_ones(opener, spec, golden):
    table = opener.open(spec)
    assert table.attention_factor == pytest.approx(float(golden), rel=2.0**-52)
    assert table.read(0, 1)[0, 0] == np.float32(table.attention_factor)


@pytest.mark.parametrize("spec", [LLAMA31, GPT_OSS, PHI3], ids=["llama3", "yarn", "longrope"])
def test_server_and_process_agree_over_long_ranges(client, spec):
    there, here = client.open(spec), local.open(spec)
    assert there.fingerprint == here.fingerprint
    assert there.read(100_000, 9000).tobytes() == here.read(100_000, 9000).tobytes()
    positions = np.arange(0, 2**50, 2**40 + 1)
    assert there.gather(positions).tobytes() == here.gather(positions).tobytes()


def test_shortcuts_open_the_spec(opener):
    table = opener.rotary(64, 150000, scaling=GPT_OSS.scaling)
    assert table.spec == GPT_OSS
    assert table.fingerprint == opener.open(GPT_OSS).fingerprint


def test_what_other_tables_have_of_it(opener):
    assert (opener.sinusoidal(4).attention_factor, opener.sinusoidal(4).axes) == (1.0, 1)
    assert opener.learned_init(4, 4).attention_factor == 0.0


@pytest.mark.parametrize("spec, axis_of_pair", [
    (Rotary(16, mrope_section=[2, 3, 3]), [0, 0, 1, 1, 1, 2, 2, 2]),
    (Rotary(16, mrope_section=[4, 2, 2], mrope_interleaved=True), [0, 1, 2, 0, 1, 2, 0, 0]),
])
def test_each_axis_has_its_position(opener, spec, axis_of_pair):
    table = opener.open(spec)
    assert table.axes == 3
    positions = [[5, 70, 900], [-3, 2**40, 0]]
    expected = exact_rotary.rows(spec, [[row[axis] for axis in axis_of_pair] for row in positions])
    assert_same_bits(values(table.gather(positions, axes=3)), expected)
    out = np.empty((2, 1, 16), np.float32)
    assert table.gather(np.reshape(positions, (2, 1, 3)), out=out, axes=3) is out
    assert_same_bits(values(out[:, 0]), expected)
    real = table.gather([[0.5, 70.0, 900.0]], axes=3)
    assert_same_bits(values(real), exact_rotary.rows(
        spec, [[[0.5, 70, 900][axis] for axis in axis_of_pair]]))
    # One position is that position on all axes: ordinary rows.
    assert np.array_equal(table.gather([70]), opener.rotary(16).gather([70]))
    assert table.gather(np.zeros((0, 3), np.int64), axes=3).shape == (0, 16)


def test_gather_of_more_than_a_message_with_axes(client):
    spec = Rotary(512, mrope_section=[100, 100, 56])
    positions = np.random.default_rng(3).integers(0, 2**30, (3000, 3))  # 6 MB of rows
    assert client.open(spec).gather(positions, axes=3).tobytes() == local.open(spec).gather(
        positions, axes=3).tobytes()


@pytest.mark.parametrize("call, field", [
    (lambda t: t.gather([[1, 2]], axes=2), "axes"),
    (lambda t: t.gather([[1, 2]], axes=0), "axes"),
    (lambda t: t.gather([[1, 2]], axes=1.0), "axes"),
    (lambda t: t.gather([[1, 2]], axes=3), "positions"),
    (lambda t: t.gather([1, 2, 3, 4], axes=3), "positions"),
    (lambda t: t.gather([[1, 2, float("nan")]], axes=3), "real_positions[2]"),
])
def test_axes_that_are_wrong(opener, call, field):
    table = opener.rotary(8, mrope_section=[1, 2, 1])
    with pytest.raises(errors.InvalidArgument) as raised:
        call(table)
    assert raised.value.field == field


def test_cursor_and_shift(opener):
    table = opener.open(GPT_OSS)
    cursor = table.cursor(5000)
    assert_same_bits(values(next(cursor)[None]), exact_rotary.rows(GPT_OSS, [5000]))
    shifted = values(table.shift(table.read(0, 3), 7))
    assert np.abs(shifted - exact_rotary.rows(GPT_OSS, [7, 8, 9])).max() < 2.0**-22


@pytest.mark.parametrize("spec, field", [
    (Rotary(3), "spec.rotary.width"),
    (Rotary(4, 1.0), "spec.rotary.base"),
    (Rotary(4, scaling="yarn"), "spec.rotary.scaling"),
    (Rotary(4, scaling=LinearScaling(0.5)), "spec.rotary.linear.factor"),
    (Rotary(4, scaling=LinearScaling("four")), "spec.rotary.linear.factor"),
    (Rotary(4, scaling=LinearScaling(None)), "spec.rotary.linear.factor"),
    (Rotary(2, scaling=NtkScaling(2)), "spec.rotary.width"),
    (Rotary(4, scaling=DynamicNtkScaling(2, 4096, 0)), "spec.rotary.dynamic_ntk.sequence_length"),
    (Rotary(4, scaling=DynamicNtkScaling(2, 4096.0, 1)),
     "spec.rotary.dynamic_ntk.max_position_embeddings"),
    (Rotary(4, scaling=YarnScaling(2, 4096, beta_fast=0.0)), "spec.rotary.yarn.beta_fast"),
    (Rotary(4, scaling=YarnScaling(2, 4096, mscale=1.0)), "spec.rotary.yarn.mscale_all_dim"),
    (Rotary(4, scaling=YarnScaling(2, 4096, truncate="no")), "spec.rotary.yarn.truncate"),
    (Rotary(4, scaling=LongRopeScaling([1], [1, 2], 64, 1, 2)), "spec.rotary.longrope.short_factor"),
    (Rotary(4, scaling=LongRopeScaling([1, 2], [1, 0], 64, 1, 2)),
     "spec.rotary.longrope.long_factor[1]"),
    (Rotary(4, scaling=LongRopeScaling([1, 2], 2, 64, 1, 2)), "spec.rotary.longrope.long_factor"),
    (Rotary(4, scaling=LongRopeScaling([1, 2], [1, 2], 64, 1)), "spec.rotary.longrope.factor"),
    (Rotary(4, scaling=Llama3Scaling(8, 4, 4, 8192)), "spec.rotary.llama3.high_freq_factor"),
    (Rotary(4, scaling=ProportionalScaling(0.0)), "spec.rotary.proportional.partial_rotary_factor"),
    (Rotary(4, scaling=LinearScaling(2), frequencies=[1.0, 0.1]), "spec.rotary.scaling"),
    (Rotary(4, 10000.0, frequencies=[1.0, 0.1]), "spec.rotary.base"),
    (Rotary(4, frequencies=[1.0]), "spec.rotary.explicit.frequencies"),
    (Rotary(4, attention_factor=0.0), "spec.rotary.attention_factor"),
    (Rotary(4, layout="diagonal"), "spec.rotary.layout"),
    (Rotary(8, mrope_section=[1, 2]), "spec.rotary.mrope_section"),
    (Rotary(8, mrope_section=[1, 1.5, 2]), "spec.rotary.mrope_section[1]"),
    (Rotary(8, mrope_section=[1, 2, 1], mrope_interleaved=1), "spec.rotary.mrope_interleaved"),
    (Rotary(8, element_type="float8"), "spec.element_type"),
])
def test_specs_that_are_wrong(opener, spec, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        opener.open(spec)
    assert raised.value.field == field


def test_attention_factor_that_does_not_fit(opener):
    with pytest.raises(errors.OutOfRange) as raised:
        opener.rotary(4, attention_factor=70000.0, element_type="float16")
    assert raised.value.field == "spec.rotary.attention_factor"


def test_asyncio(server):
    async def work():
        async with aio.Client(server.address) as client:
            table = await client.rotary(16, 1e6, scaling=LinearScaling(2), mrope_section=[2, 3, 3])
            here = local.open(table.spec)
            assert (table.axes, table.attention_factor) == (3, 1.0)
            assert np.array_equal(await table.read(10**6, 5), here.read(10**6, 5))
            assert np.array_equal(await table.gather([[1, 2, 3]], axes=3),
                                  here.gather([[1, 2, 3]], axes=3))
            assert np.array_equal(await table.frequencies(), here.frequencies())

    asyncio.run(asyncio.wait_for(work(), 60))


def test_scalings_are_the_protocols():
    """Fields have the names that they have in the protocol."""
    from phasor_tables import _wire
    fields = _wire.message("Rotary").DESCRIPTOR.oneofs_by_name["scaling"].fields
    messages = {field.message_type.name: [f.name for f in field.message_type.fields]
                for field in fields if field.name not in ("none", "explicit")}
    ours = {kind: [f.name for f in dataclasses.fields(getattr(phasor_tables, kind))]
            for kind in messages}
    assert ours == messages
