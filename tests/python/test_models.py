"""Models' tables from their configurations: as their authors publish them, and as transformers'
own code reads them."""

import asyncio
import dataclasses
import json

import numpy as np
import pytest

from phasor_tables import (Alibi, CheckpointTable, LinearScaling, Llama3Scaling, LongRopeScaling,
                           NoPosition, RelativeBuckets, Rotary, Sinusoidal, YarnScaling, aio,
                           describe_model, errors, local)

GEMMA3 = dict(
    model_type="gemma3_text", head_dim=256, hidden_size=2560, num_attention_heads=8,
    num_hidden_layers=7, sliding_window_pattern=6, max_position_embeddings=131072,
    rope_theta=1000000.0, rope_local_base_freq=10000.0,
    rope_scaling={"factor": 8.0, "rope_type": "linear"})
LLAMA31 = dict(
    model_type="llama", hidden_size=4096, num_attention_heads=32, max_position_embeddings=131072,
    rope_theta=500000.0, rope_scaling=dict(
        factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=8192, rope_type="llama3"))
PHI3 = dict(
    model_type="phi3", hidden_size=96, num_attention_heads=24, max_position_embeddings=131072,
    original_max_position_embeddings=4096, rope_theta=10000.0,
    rope_scaling=dict(type="longrope", short_factor=[1.0, 1.5], long_factor=[2.0, 3.0]))
GPT_OSS = dict(
    model_type="gpt_oss", head_dim=64, hidden_size=2880, num_attention_heads=64, rope_theta=150000,
    max_position_embeddings=131072, initial_context_length=4096, rope_scaling=dict(
        beta_fast=32.0, beta_slow=1.0, factor=32.0, original_max_position_embeddings=4096,
        rope_type="yarn", truncate=False))


def text(**config):
    return json.dumps(config)


def specs(config, **options):
    return {table.name: table.spec for table in describe_model(json.dumps(config), **options).tables}


@pytest.mark.parametrize("config, expected", [
    (GEMMA3, dict(full_attention=Rotary(256, 1e6, LinearScaling(8)),
                  sliding_attention=Rotary(256))),
    (LLAMA31, dict(rotary=Rotary(128, 500000, Llama3Scaling(8, 1, 4, 8192)))),
    (GPT_OSS, dict(rotary=Rotary(64, 150000, YarnScaling(32, 4096, truncate=False)))),
    (PHI3, dict(
        rotary_short=Rotary(4, scaling=LongRopeScaling((1.0, 1.5), (2.0, 3.0), 4096, 4096, 32)),
        rotary_long=Rotary(4, scaling=LongRopeScaling((1.0, 1.5), (2.0, 3.0), 4096, 131072, 32)))),
    (dict(model_type="marian", d_model=512),
     dict(sinusoidal=Sinusoidal(512, layout="sin_cos_halves"))),
    (dict(model_type="bloom", n_head=12), dict(alibi=Alibi(12, form="key_position"))),
    (dict(model_type="t5"), dict(encoder=RelativeBuckets(),
                                 decoder=RelativeBuckets(bidirectional=False))),
    (dict(LLAMA31, model_type="smollm3", num_hidden_layers=4, no_rope_layers=[1, 1, 1, 0],
          rope_scaling=None), dict(rotary=Rotary(128, 500000), none=NoPosition(128))),
], ids=lambda value: value.get("model_type"))
def test_models_have_the_tables_that_are_published(config, expected):
    described = specs(config)
    assert described.keys() == expected.keys()
    for name, spec in expected.items():  # the same table, however it is written
        assert local.open(described[name]).fingerprint == local.open(spec).fingerprint, name
        if isinstance(spec, Rotary):
            assert described[name] == spec


def test_what_a_description_says():
    model = describe_model(json.dumps(GEMMA3))
    assert model.model_type == "gemma3_text" and model.warnings == ()
    table = model.find("full_attention")
    assert (table.use, table.layers, table.first_channel) == ("rotate_halves", (5,), 0)
    assert table.checkpoint is None and table.softmax_factor is None and table.description
    assert table.fingerprint == local.open(table.spec).fingerprint
    assert model.find("sliding_attention").layers == (0, 1, 2, 3, 4, 6)
    assert model.find("rotary") is None
    assert "rope_scaling.factor" in model.keys_used
    assert model.keys_ignored == ("max_position_embeddings",)


def test_learned_tables_are_in_the_checkpoint():
    config = dict(model_type="opt", max_position_embeddings=2048, hidden_size=768)
    (table,) = describe_model(json.dumps(config)).tables
    assert (table.use, table.spec, table.fingerprint) == ("add", None, None)
    assert isinstance(table.checkpoint, CheckpointTable)
    assert (table.checkpoint.rows, table.checkpoint.width, table.checkpoint.row_offset) == (2050, 768, 2)
    assert any("embed_positions" in tensor for tensor in table.checkpoint.tensors)
    with pytest.raises(errors.InvalidArgument) as raised:
        local.open_model(json.dumps(config))
    assert raised.value.field == "table"


def test_deepseeks_factor_beside_its_table():
    # tests/golden/schemes.json: softmax_mult, (1 + 0.1 ln 40)^2.
    config = dict(
        model_type="deepseek_v3", hidden_size=7168, num_attention_heads=128, qk_rope_head_dim=64,
        max_position_embeddings=163840, rope_theta=10000, rope_scaling=dict(
            beta_fast=32, beta_slow=1, factor=40, mscale=1.0, mscale_all_dim=1.0,
            original_max_position_embeddings=4096, type="yarn"))
    (table,) = describe_model(json.dumps(config)).tables
    assert table.softmax_factor == pytest.approx(1.8738542070926266, rel=1e-15)
    assert table.use == "rotate_to_halves"


def test_options():
    dynamic = dict(LLAMA31, rope_scaling=dict(type="dynamic", factor=2.0))
    (table,) = describe_model(json.dumps(dynamic), sequence_length=200000).tables
    assert table.spec.scaling.sequence_length == 200000
    (table,) = describe_model(json.dumps(LLAMA31), rotary_layout="cos_sin_duplicated_halves",
                              element_type="bfloat16").tables
    assert (table.spec.layout, table.spec.element_type) == ("cos_sin_duplicated_halves", "bfloat16")
    # 4.46 takes max_position_embeddings for YaRN's original length (docs/models.md).
    yarn = json.dumps(GPT_OSS)
    lengths = {version: describe_model(yarn, transformers_version=version).tables[0].spec.scaling
               .original_max_position_embeddings for version in ("4.46", "5.0", "5.16")}
    assert lengths == {"4.46": 131072, "5.0": 4096, "5.16": 4096}
    assert any("4.46" in warning for warning in describe_model(yarn).warnings)


def test_a_models_table_is_opened_by_name(server, opener):
    config = json.dumps(GEMMA3)
    for given in (config, config.encode()):
        table = opener.open_model(given, "sliding_attention", element_type="float64")
        assert np.array(table.frequencies())[64] == 0.01  # 10000^(-64/128)
        assert table.element_type == "float64"
    assert opener.open_model(json.dumps(LLAMA31)).spec == Rotary(
        128, 500000, Llama3Scaling(8, 1, 4, 8192))

    async def twin():
        async with aio.Client(server.address) as client:
            assert client.describe_model(config).find("sliding_attention") is not None
            table = await client.open_model(config, "sliding_attention", element_type="float64")
            return (await table.read(7, 3)).tobytes()

    assert asyncio.run(twin()) == table.read(7, 3).tobytes()


def test_descriptions_ask_no_server(client):
    before = client.counters().rpcs
    assert client.describe_model(json.dumps(LLAMA31)) == describe_model(json.dumps(LLAMA31))
    assert client.counters().rpcs == before


@pytest.mark.parametrize("config, table, options, field", [
    ("{", "", {}, "config_json"),
    ("[]", "", {}, "config_json"),
    (b"\xff", "", {}, "config_json"),
    ("\ud800", "", {}, "config_json"),
    (GEMMA3, None, {}, "config_json"),
    (None, "", {}, "config_json"),
    (text(model_type="bert", hidden_size="wide"), "", {}, "config_json.hidden_size"),
    (text(**GEMMA3), "", {}, "table"),
    (text(**GEMMA3), None, {}, "table"),
    (text(**GEMMA3), "rotary", {}, "table"),
    (text(**GEMMA3), 7, {}, "table"),
    (text(**LLAMA31), "rotary\0", {}, "table"),
    (text(**LLAMA31), "", dict(transformers_version="5.1"), "transformers_version"),
    (text(**LLAMA31), "", dict(transformers_version=5.0), "transformers_version"),
    (text(**LLAMA31), "", dict(sequence_length="long"), "sequence_length"),
    (text(**LLAMA31), "", dict(sequence_length=0), "sequence_length"),
    (text(**LLAMA31), "", dict(rotary_layout="diagonal"), "rotary_layout"),
    (text(**LLAMA31), "", dict(element_type="int8"), "element_type"),
])
def test_what_is_wrong_is_named(opener, config, table, options, field):
    with pytest.raises(errors.InvalidArgument) as raised:
        opener.open_model(config, table, **options)
    assert raised.value.field == field
    if field != "table":
        with pytest.raises(errors.InvalidArgument) as raised:
            describe_model(config, **options)
        assert raised.value.field == field


def test_an_option_that_is_none_is_a_type_error():
    for call in (describe_model, local.open_model):
        with pytest.raises(TypeError, match="lenght"):
            call(json.dumps(LLAMA31), lenght=4)


def test_descriptions_are_values():
    model = describe_model(json.dumps(PHI3))
    assert model == describe_model(json.dumps(PHI3)) and hash(model) == hash(dataclasses.replace(model))
