"""Fingerprints, recomputed from what the comment of TableSpec says and nothing else."""

import hashlib
import struct

import pytest
from google.protobuf import json_format


def text_of(value, field):
    if field.type == field.TYPE_DOUBLE:
        return struct.pack(">d", value).hex()
    if field.type == field.TYPE_BOOL:
        return "true" if value else "false"
    if field.type == field.TYPE_ENUM:
        return field.enum_type.values_by_number[value].name
    return str(value)


def lines_of(message, path=()):
    for field, value in message.ListFields():
        here = (*path, field.name)
        if field.label == field.LABEL_REPEATED:
            yield here, ",".join(text_of(v, field) for v in value)
        elif field.type != field.TYPE_MESSAGE:
            yield here, text_of(value, field)
        elif value.ListFields():
            yield from lines_of(value, here)
        else:
            yield here, "{}"


def fingerprint(spec):
    lines = sorted(f"{'.'.join(path)}={value}\n".encode() for path, value in lines_of(spec))
    return hashlib.sha256(b"".join(lines)).hexdigest()[:32]


SPECS = [
    {"sinusoidal": {"width": 512}},
    {"sinusoidal": {"width": 512, "base": 500000}, "element_type": "ELEMENT_TYPE_FLOAT16"},
    {"sinusoidal": {"width": 2, "inclusive": {}}},
    {"sinusoidal": {"width": 320, "downscaled": {"downscale_shift": 1}, "layout": 3}},
    {"sinusoidal": {"width": 320, "downscaled": {"downscale_shift": 0}}},
    {"sinusoidal": {"width": 6, "explicit": {"frequencies": [1, -0.0, 0.1]},
                    "position_offset": -2, "zero_row": 0}},
    {"sinusoidal": {"width": 8, "timescales": {}}},
    {"sinusoidal": {"width": 9, "timescales": {"min_timescale": 2, "max_timescale": 5000},
                    "layout": 2, "odd_column": 1}},
    {"relative_buckets": {}},
    {"relative_buckets": {"num_buckets": 64, "max_distance": 256, "bidirectional": False}},
    {"alibi": {"head_count": 32}},
    {"alibi": {"head_count": 12, "bias_max": 16, "form": 2}},
    {"none": {"width": 8}},
    {"none": {"width": 7, "additive": True}},
    {"timestep": {"width": 320, "downscale_freq_shift": 0, "flip_sin_to_cos": True}},
    {"timestep": {"width": 65, "downscale_freq_shift": 1, "scale": 1000, "max_period": 2000}},
    {"learned_init": {"max_positions": 2048, "width": 33}},
    {"learned_init": {"max_positions": 1 << 31, "width": 1, "stddev": 5e-324, "seed": -1,
                      "stream": (1 << 63) - 1}, "element_type": "ELEMENT_TYPE_FLOAT64"},
    {"rotary": {"width": 128, "yarn": {"factor": 4, "original_max_position_embeddings": 32768,
                                       "truncate": False}, "mrope_section": [16, 24, 24]}},
    {"rotary": {"width": 4, "proportional": {}, "mrope_section": [1, 1, 0],
                "mrope_interleaved": True}},
]


@pytest.mark.parametrize("fields", SPECS, ids=range(len(SPECS)))
def test_fingerprint_is_that_of_the_canonical_spec(stub, v1, fields):
    asked = json_format.ParseDict(fields, v1.TableSpec())
    table = stub.GetTable(v1.GetTableRequest(spec=asked))
    assert table.spec == asked  # these hold no default
    assert table.fingerprint == fingerprint(table.spec)
    rows = stub.GetRows(v1.GetRowsRequest(
        spec=asked, row_count=1, expected_fingerprint=table.fingerprint)).rows
    assert rows.fingerprint == table.fingerprint
    assert rows.row_width == table.row_width


def test_the_comment_s_own_example(stub, v1):
    text = (b"element_type=ELEMENT_TYPE_FLOAT16\n"
            b"sinusoidal.base=411e848000000000\n"
            b"sinusoidal.width=512\n")
    spec = json_format.ParseDict(SPECS[1], v1.TableSpec())
    table = stub.GetTable(v1.GetTableRequest(spec=spec))
    assert table.fingerprint == hashlib.sha256(text).hexdigest()[:32]


DEFAULTS = [
    ({"sinusoidal": {"width": 64}},
     {"sinusoidal": {"width": 64, "base": 10000, "paper": {},
                     "layout": "LAYOUT_SIN_COS_INTERLEAVED", "position_offset": 0},
      "element_type": "ELEMENT_TYPE_FLOAT32", "numerics": "NUMERICS_EXACT"}),
    ({"learned_init": {"max_positions": 8, "width": 4}},
     {"learned_init": {"max_positions": 8, "width": 4, "stddev": 0.02, "seed": 0, "stream": 0},
      "element_type": "ELEMENT_TYPE_FLOAT32", "numerics": "NUMERICS_EXACT"}),
    ({"rotary": {"width": 64}},
     {"rotary": {"width": 64, "base": 10000, "none": {}, "layout": "LAYOUT_COS_SIN_HALVES"},
      "element_type": "ELEMENT_TYPE_FLOAT32", "numerics": "NUMERICS_EXACT"}),
]


@pytest.mark.parametrize("short,written_out", DEFAULTS, ids=["sinusoidal", "learned_init", "rotary"])
def test_a_default_that_is_written_is_no_other_table(stub, v1, short, written_out):
    canonical = json_format.ParseDict(short, v1.TableSpec())
    effective = json_format.ParseDict(written_out, v1.TableSpec())
    table = stub.GetTable(v1.GetTableRequest(spec=effective))
    assert table.spec == canonical
    assert table.effective_spec == effective
    assert table.fingerprint == fingerprint(canonical)


def test_every_field_makes_another_table(stub, v1):
    """Tables that differ in one field have fingerprints and rows of their own."""
    base = {"width": 8, "base": 10000}
    variants = [
        {}, {"width": 10}, {"base": 10001}, {"inclusive": {}},
        {"downscaled": {"downscale_shift": 0.5}}, {"downscaled": {"downscale_shift": 1.5}},
        {"base": None, "explicit": {"frequencies": [1, 2, 3, 4]}}, {"layout": 2},
        {"position_offset": 1}, {"zero_row": 3}, {"base": None, "timescales": {"min_timescale": 2}},
        {"width": 9, "odd_column": 1}, {"width": 9, "odd_column": 2},
    ]
    order = range(len(variants))
    seen = {}
    for n in [*order, *reversed(order)]:
        fields = {k: v for k, v in {**base, **variants[n]}.items() if v is not None}
        spec = json_format.ParseDict({"sinusoidal": fields}, v1.TableSpec())
        rows = stub.GetRows(v1.GetRowsRequest(spec=spec, row_count=4)).rows
        assert seen.setdefault(n, (rows.fingerprint, rows.data)) == (rows.fingerprint, rows.data)
    assert len({fingerprint for fingerprint, _ in seen.values()}) == len(variants)
    assert len({data for _, data in seen.values()}) == len(variants)
