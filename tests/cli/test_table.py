"""`phasor table`: JSON of the spec, and a fingerprint that a few lines of Python
recompute from the comments of table_spec.proto."""

import hashlib
import importlib
import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format

PROTO_DIR = Path(__file__).parents[2] / "proto"

SPECS = [
    ["sinusoidal", "--width=512"],
    ["sinusoidal", "--width=512", "--base=10000", "--ladder=paper", "--type=float32",
     "--layout=sin_cos_interleaved", "--position_offset=0", "--numerics=exact"],
    ["sinusoidal", "--width=512", "--base=500000", "--type=float16"],
    ["sinusoidal", "--width=8", "--ladder=inclusive", "--layout=cos_only", "--zero_row=0",
     "--position_offset=-9007199254740993", "--type=bfloat16"],
    ["sinusoidal", "--width=8", "--ladder=downscaled", "--downscale_shift=0"],
    ["sinusoidal", "--width=4", "--ladder=explicit", "--frequencies=1,0.01", "--type=float64"],
    ["learned_init", "--max_positions=10", "--width=3"],
    ["learned_init", "--max_positions=10", "--width=3", "--stddev=0.1", "--seed=-1",
     "--stream=9223372036854775807", "--type=float64"],
    ["rotary", "--width=128"],
    ["rotary", "--width=128", "--base=500000", "--scaling=llama3", "--factor=8",
     "--low_freq_factor=1", "--high_freq_factor=4", "--original_max_position_embeddings=8192",
     "--layout=cos_sin_duplicated_halves", "--type=bfloat16"],
    ["rotary", "--width=64", "--scaling=yarn", "--factor=40", "--mscale=1", "--mscale_all_dim=1",
     "--original_max_position_embeddings=4096", "--beta_fast=31", "--beta_slow=2",
     "--truncate=false", "--attention_factor=1.5"],
    ["rotary", "--width=4", "--scaling=longrope", "--short_factor=1,1.5", "--long_factor=2,64",
     "--original_max_position_embeddings=4096", "--sequence_length=4097", "--factor=32"],
    ["rotary", "--width=4", "--scaling=dynamic_ntk", "--factor=2",
     "--max_position_embeddings=4096", "--sequence_length=8192"],
    ["rotary", "--width=4", "--scaling=ntk", "--factor=2"],
    ["rotary", "--width=4", "--scaling=linear", "--factor=2"],
    ["rotary", "--width=8", "--scaling=proportional", "--partial_rotary_factor=0.25"],
    ["rotary", "--width=8", "--scaling=proportional"],
    ["rotary", "--width=4", "--scaling=explicit", "--frequencies=1,0.01"],
    ["rotary", "--width=128", "--mrope_section=24,20,20", "--mrope_interleaved=true"],
    ["sinusoidal", "--width=8", "--ladder=timescales"],
    ["sinusoidal", "--width=9", "--ladder=timescales", "--min_timescale=2",
     "--max_timescale=5000", "--odd_column=zero"],
    ["sinusoidal", "--width=7", "--layout=sin_cos_halves", "--odd_column=sine"],
    ["timestep", "--width=320", "--downscale_freq_shift=0"],
    ["timestep", "--width=65", "--downscale_freq_shift=1", "--scale=1000", "--max_period=2000",
     "--flip_sin_to_cos=true", "--type=bfloat16"],
    ["none", "--width=8"],
    ["none", "--width=8", "--layout=cos_sin_duplicated_pairs", "--type=float16"],
    ["none", "--width=7", "--additive=true"],
    ["relative_buckets"],
    ["relative_buckets", "--num_buckets=64", "--max_distance=256", "--bidirectional=false",
     "--type=int32"],
    ["alibi", "--head_count=32"],
    ["alibi", "--head_count=12", "--bias_max=16", "--form=key_position", "--type=float16"],
]


@pytest.fixture(scope="session")
def messages(tmp_path_factory):
    """The message classes of another language."""
    directory = tmp_path_factory.mktemp("generated")
    subprocess.run(["protoc", "-I", PROTO_DIR, f"--python_out={directory}",
                    "phasor/v1/table_spec.proto"], check=True)
    sys.path.insert(0, str(directory))
    return importlib.import_module("phasor.v1.table_spec_pb2")


def lines(message, prefix=""):
    for field, value in message.ListFields():
        path = prefix + field.name
        if field.label == field.LABEL_REPEATED:
            yield path + "=" + ",".join(
                struct.pack(">d", v).hex() if isinstance(v, float) else str(v) for v in value)
        elif field.message_type:
            if value.ListFields():
                yield from lines(value, path + ".")
            else:
                yield path + "={}"
        elif field.enum_type:
            yield path + "=" + field.enum_type.values_by_number[value].name
        elif field.type == field.TYPE_DOUBLE:
            yield path + "=" + struct.pack(">d", value).hex()
        elif field.type == field.TYPE_BOOL:
            yield path + "=" + str(value).lower()
        else:
            yield path + "=" + str(value)


def repeated(message):
    for field, value in message.ListFields():
        if field.label == field.LABEL_REPEATED:
            yield field, value
        elif field.message_type:
            yield from repeated(value)


@pytest.mark.parametrize("words", SPECS)
def test_spec_is_json_of_the_wire_message_and_has_that_fingerprint(tool, messages, words):
    table = json.loads(tool.out("table", *words, "--local"))
    spec = json_format.ParseDict(table["spec"], messages.TableSpec())
    text = "".join(sorted(line + "\n" for line in lines(spec)))
    assert table["fingerprint"] == hashlib.sha256(text.encode()).hexdigest()[:32]
    effective = json_format.ParseDict(table["effective_spec"], messages.TableSpec())
    assert effective.element_type and effective.numerics
    merged = messages.TableSpec()
    merged.CopyFrom(effective)
    merged.MergeFrom(spec)
    if not any(len(v) for _, v in repeated(spec)):  # repeated fields are appended
        assert merged == effective


def test_defaults_are_left_out_and_filled_in(tool):
    plain = json.loads(tool.out("table", *SPECS[0], "--local"))
    written = json.loads(tool.out("table", *SPECS[1], "--local"))
    assert plain == written
    assert plain["spec"] == {"sinusoidal": {"width": 512}}
    assert plain["effective_spec"] == {
        "sinusoidal": {"width": 512, "base": 10000.0, "paper": {},
                       "layout": "LAYOUT_SIN_COS_INTERLEAVED", "position_offset": 0},
        "element_type": "ELEMENT_TYPE_FLOAT32", "numerics": "NUMERICS_EXACT"}


def test_a_written_zero_is_a_zero(tool):
    spec = json.loads(tool.out("table", *SPECS[4], "--local"))["spec"]
    assert spec["sinusoidal"]["downscaled"] == {"downscale_shift": 0}


def test_sizes(tool):
    table = json.loads(tool.out("table", "sinusoidal", "--width=6", "--type=float64",
                                "--layout=cos_sin_duplicated_pairs", "--position_offset=2",
                                "--local"))
    assert table["row_width"] == 12 and table["row_bytes"] == 96
    assert table["first_position"] == -(2**53) and table["last_position"] == 2**53 - 2
    assert "row_count" not in table
    table = json.loads(tool.out("table", *SPECS[6], "--local"))
    assert (table["row_count"], table["first_position"], table["last_position"]) == (10, 0, 9)


def test_to_a_file(tool):
    assert tool.out("table", *SPECS[0], "--local", "--output=t.json") == b""
    assert (tool.directory / "t.json").read_bytes() == tool.out("table", *SPECS[0], "--local")
