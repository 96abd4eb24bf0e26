#!/usr/bin/env python3
"""Writes fingerprints.tsv: table specs and their fingerprints.

Written from the comment of TableSpec in proto/phasor/v1/table_spec.proto
alone, in another language than the service: the two check each other. The
file may only grow, for a fingerprint that was ever handed out stays what it
is. So lines are added at its end, and this script refuses to write when a line
that is there would change or go.

    make_fingerprints.py          add the lines that are missing
    make_fingerprints.py --check  exit 1 unless the file is up to date
"""

import hashlib
import pathlib
import struct
import sys

FILE = pathlib.Path(__file__).with_name("fingerprints.tsv")
HEADER = "# fingerprint\tfields of the canonical spec, reals as the shortest decimals\n"


def hex_bits(real):
    return struct.pack(">d", real).hex()


def text_value(value):
    if isinstance(value, float):
        return hex_bits(value)
    if isinstance(value, list):
        return ",".join(text_value(v) for v in value)
    return str(value)


def fingerprint(fields):
    lines = sorted(f"{path}={text_value(value)}\n".encode() for path, value in fields.items())
    return hashlib.sha256(b"".join(lines)).hexdigest()[:32]


def written(value):
    if isinstance(value, list):
        return ",".join(repr(v) for v in value)
    return repr(value) if isinstance(value, float) else str(value)


def sinusoidal(width, element_type=None, **fields):
    spec = {"sinusoidal.width": width}
    for name, value in fields.items():
        spec["sinusoidal." + name.replace("__", ".")] = value
    if element_type:
        spec["element_type"] = "ELEMENT_TYPE_" + element_type
    return spec


def learned_init(max_positions, width, element_type=None, **fields):
    spec = {"learned_init.max_positions": max_positions, "learned_init.width": width}
    for name, value in fields.items():
        spec["learned_init." + name] = value
    if element_type:
        spec["element_type"] = "ELEMENT_TYPE_" + element_type
    return spec


def rotary(width, element_type=None, **fields):
    spec = {"rotary.width": width}
    for name, value in fields.items():
        spec["rotary." + name.replace("__", ".")] = value
    if element_type:
        spec["element_type"] = "ELEMENT_TYPE_" + element_type
    return spec


def scheme(name, /, element_type=None, **fields):
    spec = {f"{name}.{field}": value for field, value in fields.items()}
    if not fields:
        spec[name] = "{}"
    if element_type:
        spec["element_type"] = "ELEMENT_TYPE_" + element_type
    return spec


# Add at the end; change nothing.
SPECS = [
    sinusoidal(4),
    sinusoidal(512),
    sinusoidal(65536),
    sinusoidal(512, base=500000.0, element_type="FLOAT16"),
    sinusoidal(2, base=2.0),
    sinusoidal(2, base=18446744073709551616.0),
    sinusoidal(128, base=10000.000000000002),
    sinusoidal(512, element_type="FLOAT64"),
    sinusoidal(512, element_type="BFLOAT16"),
    sinusoidal(512, inclusive="{}"),
    sinusoidal(320, downscaled__downscale_shift=1.0, layout="LAYOUT_COS_SIN_HALVES"),
    sinusoidal(320, downscaled__downscale_shift=0.0),
    sinusoidal(320, downscaled__downscale_shift=159.5),
    sinusoidal(4, explicit__frequencies=[1.0, 0.01]),
    sinusoidal(8, explicit__frequencies=[0.0, -0.1, 5.421010862427522e-20, 4294967296.0]),
    sinusoidal(8, layout="LAYOUT_SIN_COS_HALVES"),
    sinusoidal(8, layout="LAYOUT_COS_SIN_INTERLEAVED"),
    sinusoidal(8, layout="LAYOUT_COS_SIN_DUPLICATED_HALVES"),
    sinusoidal(8, layout="LAYOUT_COS_SIN_DUPLICATED_PAIRS"),
    sinusoidal(8, layout="LAYOUT_COS_ONLY"),
    sinusoidal(8, layout="LAYOUT_SIN_ONLY"),
    sinusoidal(1024, inclusive="{}", layout="LAYOUT_SIN_COS_HALVES", position_offset=2,
               zero_row=1),
    sinusoidal(8, zero_row=0),
    sinusoidal(8, zero_row=-9223372036854775808),
    sinusoidal(8, position_offset=-18014398509481984),
    sinusoidal(64, base=1000000.0, inclusive="{}", layout="LAYOUT_COS_ONLY", position_offset=-7,
               zero_row=9223372036854775807, element_type="BFLOAT16"),
    learned_init(1024, 768),
    learned_init(1, 1),
    learned_init(2147483648, 65536, stddev=0.01, seed=-1, stream=9223372036854775807),
    learned_init(4611686018427387904, 1, element_type="FLOAT64"),
    learned_init(512, 3, stddev=5e-324, seed=42, stream=54, element_type="FLOAT16"),
    learned_init(512, 3, seed=-9223372036854775808),
    rotary(128),
    rotary(128, base=500000.0, element_type="BFLOAT16", layout="LAYOUT_COS_SIN_DUPLICATED_HALVES"),
    rotary(128, linear__factor=8.0),
    rotary(128, ntk__factor=1.0),
    rotary(128, dynamic_ntk__factor=2.0, dynamic_ntk__max_position_embeddings=4096,
           dynamic_ntk__sequence_length=8192),
    rotary(64, yarn__factor=40.0, yarn__original_max_position_embeddings=4096,
           yarn__mscale=1.0, yarn__mscale_all_dim=1.0),
    rotary(64, base=150000.0, yarn__factor=32.0, yarn__original_max_position_embeddings=4096,
           yarn__beta_fast=33.0, yarn__beta_slow=2.0, yarn__truncate="false"),
    rotary(4, longrope__short_factor=[1.0, 1.5], longrope__long_factor=[2.0, 64.0],
           longrope__original_max_position_embeddings=4096, longrope__sequence_length=4097,
           longrope__factor=32.0),
    rotary(4, longrope__short_factor=[1.0, 1.5], longrope__long_factor=[2.0, 64.0],
           longrope__original_max_position_embeddings=4096, longrope__sequence_length=1,
           attention_factor=1.0),
    rotary(128, base=500000.0, llama3__factor=8.0, llama3__low_freq_factor=1.0,
           llama3__high_freq_factor=4.0, llama3__original_max_position_embeddings=8192),
    rotary(512, base=1000000.0, proportional__partial_rotary_factor=0.25),
    rotary(512, proportional="{}"),
    rotary(512, proportional__factor=2.0, layout="LAYOUT_COS_ONLY", element_type="FLOAT64"),
    rotary(4, explicit__frequencies=[1.0, 0.01], attention_factor=1.25),
    rotary(128, base=1000000.0, mrope_section=[16, 24, 24]),
    rotary(128, mrope_section=[24, 20, 20], mrope_interleaved="true"),
    sinusoidal(8, timescales="{}"),
    sinusoidal(8, timescales__min_timescale=2.0, layout="LAYOUT_SIN_COS_HALVES"),
    sinusoidal(513, timescales__max_timescale=5000.0, odd_column="ODD_COLUMN_ZERO"),
    sinusoidal(7, odd_column="ODD_COLUMN_SINE", layout="LAYOUT_SIN_COS_HALVES"),
    scheme("timestep", width=320, downscale_freq_shift=0.0, flip_sin_to_cos="true"),
    scheme("timestep", width=65, downscale_freq_shift=1.0, scale=1000.0, max_period=2000.0,
           element_type="BFLOAT16"),
    scheme("none", width=128),
    scheme("none", width=128, layout="LAYOUT_COS_SIN_DUPLICATED_HALVES", element_type="FLOAT16"),
    scheme("none", width=7, additive="true"),
    scheme("alibi", head_count=32),
    scheme("alibi", head_count=12, form="ALIBI_FORM_KEY_POSITION", element_type="BFLOAT16"),
    scheme("alibi", head_count=6, bias_max=16.0),
    scheme("relative_buckets"),
    scheme("relative_buckets", num_buckets=64, max_distance=256),
    scheme("relative_buckets", bidirectional="false"),
    # docs/learned-tables.md shows whose hash that is.
    scheme("learned_table", name="t", max_positions=2, width=2,
           content_sha256="6a97d15f07f1360a5079a969cd4c0f7e2f154307f1f1f144a40c4b7506e29d9c"),
    scheme("learned_table", name="org/GPT-2_v1.0", max_positions=1024, width=768,
           content_sha256="0123456789abcdef" * 4, element_type="BFLOAT16"),
]


def main():
    lines = [
        fingerprint(spec) + "\t" + " ".join(f"{p}={written(spec[p])}" for p in sorted(spec)) + "\n"
        for spec in SPECS
    ]
    wanted = HEADER + "".join(lines)
    present = FILE.read_text() if FILE.exists() else ""
    if not wanted.startswith(present):
        sys.exit(f"{FILE.name}: a line that is there would change; fingerprints may only be added")
    if "--check" in sys.argv[1:]:
        if wanted != present:
            sys.exit(f"{FILE.name} is not up to date")
        return
    FILE.write_text(wanted)


if __name__ == "__main__":
    main()
