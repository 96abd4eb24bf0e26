"""Specs as the structs of phasor.h (core/c/phasor.h)."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Callable, Optional

from phasor_tables.errors import InvalidArgument, field_error
from phasor_tables.rotary import (DynamicNtkScaling, LinearScaling, Llama3Scaling, LongRopeScaling,
                                  NtkScaling, ProportionalScaling, Rotary, YarnScaling)
from phasor_tables.specs import (Alibi, LearnedInit, LearnedTable, NoPosition, RelativeBuckets,
                                 Sinusoidal, Spec, Timestep, int64, real)

ELEMENT_TYPES = ("float32", "float64", "float16", "bfloat16", "int32")  # from 1
USES = ("add", "rotate_halves", "rotate_pairs", "rotate_to_halves", "nothing", "add_to_scores",
        "look_up")  # from 1
_VERSIONS = ("4.46", "5.0", "5.16")  # from 1
_LADDERS = ("paper", "inclusive", "downscaled", "explicit", "timescales")  # from 0
_ODD_COLUMNS = ("zero", "sine")  # from 1
_FORMS = ("distance", "key_position")  # from 0
_LAYOUTS = ("sin_cos_interleaved", "sin_cos_halves", "cos_sin_halves", "cos_sin_interleaved",
            "cos_sin_duplicated_halves", "cos_sin_duplicated_pairs", "cos_only",
            "sin_only")  # from 1


class SinusoidalStruct(ctypes.Structure):
    """phasor_sinusoidal."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("width", c_int64),
        ("base", POINTER(c_double)),
        ("ladder", c_int32),
        ("layout", c_int32),
        ("position_offset", c_int64),
        ("zero_row", POINTER(c_int64)),
        ("downscale_shift", POINTER(c_double)),
        ("frequencies", POINTER(c_double)),
        ("frequency_count", c_size_t),
        ("odd_column", c_int32),
        ("min_timescale", POINTER(c_double)),
        ("max_timescale", POINTER(c_double)),
    ]


class LearnedInitStruct(ctypes.Structure):
    """phasor_learned_init."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("max_positions", c_int64),
        ("width", c_int64),
        ("stddev", POINTER(c_double)),
        ("seed", c_int64),
        ("stream", c_int64),
    ]


class LearnedTableStruct(ctypes.Structure):
    """phasor_learned_table."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("name", c_char_p),
        ("content_sha256", c_char_p),
        ("max_positions", c_int64),
        ("width", c_int64),
    ]


class TimestepStruct(ctypes.Structure):
    """phasor_timestep."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("width", c_int64),
        ("max_period", POINTER(c_double)),
        ("downscale_freq_shift", POINTER(c_double)),
        ("scale", POINTER(c_double)),
        ("flip_sin_to_cos", c_int32),
    ]


class NoneStruct(ctypes.Structure):
    """phasor_none."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("width", c_int64),
        ("layout", c_int32),
        ("additive", c_int32),
    ]


class AlibiStruct(ctypes.Structure):
    """phasor_alibi."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("head_count", c_int64),
        ("bias_max", POINTER(c_double)),
        ("form", c_int32),
    ]


class RelativeBucketsStruct(ctypes.Structure):
    """phasor_relative_buckets."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("num_buckets", POINTER(c_int64)),
        ("max_distance", POINTER(c_int64)),
        ("bidirectional", POINTER(c_int32)),
    ]


class ModelOptionsStruct(ctypes.Structure):
    """phasor_model_options."""

    _fields_ = [
        ("size", c_size_t),
        ("transformers_version", c_int32),
        ("rotary_layout", c_int32),
        ("element_type", c_int32),
        ("sequence_length", POINTER(c_int64)),
    ]


class CheckpointTableStruct(ctypes.Structure):
    """phasor_checkpoint_table."""

    _fields_ = [
        ("tensors", POINTER(c_char_p)),
        ("tensor_count", c_size_t),
        ("rows", c_int64),
        ("width", c_int64),
        ("row_offset", c_int64),
    ]


class ModelTableStruct(ctypes.Structure):
    """phasor_model_table."""

    _fields_ = [
        ("name", c_char_p),
        ("description", c_char_p),
        ("use", c_int32),
        ("spec", c_void_p),
        ("checkpoint", POINTER(CheckpointTableStruct)),
        ("layers", POINTER(c_int64)),
        ("layer_count", c_size_t),
        ("first_channel", c_int64),
        ("softmax_factor", POINTER(c_double)),
    ]


class ModelStruct(ctypes.Structure):
    """phasor_model."""

    _fields_ = [
        ("model_type", c_char_p),
        ("tables", POINTER(POINTER(ModelTableStruct))),
        ("table_count", c_size_t),
        ("keys_used", POINTER(c_char_p)),
        ("keys_used_count", c_size_t),
        ("keys_ignored", POINTER(c_char_p)),
        ("keys_ignored_count", c_size_t),
        ("warnings", POINTER(c_char_p)),
        ("warning_count", c_size_t),
    ]


_REAL, _INT64 = c_double, c_int64
_OPTIONAL_REAL, _OPTIONAL_BOOL = POINTER(c_double), POINTER(c_int32)

# A scaling's name, and its fields as they stand in its struct. Behind an array
# stands the number of its elements.
_SCALINGS: dict[type, tuple[str, dict[str, Any]]] = {
    LinearScaling: ("linear", {"factor": _REAL}),
    NtkScaling: ("ntk", {"factor": _REAL}),
    DynamicNtkScaling: ("dynamic_ntk", {
        "factor": _REAL, "max_position_embeddings": _INT64, "sequence_length": _INT64}),
    YarnScaling: ("yarn", {
        "factor": _REAL, "original_max_position_embeddings": _INT64, "beta_fast": _OPTIONAL_REAL,
        "beta_slow": _OPTIONAL_REAL, "mscale": _OPTIONAL_REAL, "mscale_all_dim": _OPTIONAL_REAL,
        "truncate": _OPTIONAL_BOOL}),
    LongRopeScaling: ("longrope", {
        "short_factor": _OPTIONAL_REAL, "short_factor_count": c_size_t,
        "long_factor": _OPTIONAL_REAL, "long_factor_count": c_size_t,
        "original_max_position_embeddings": _INT64, "sequence_length": _INT64,
        "factor": _OPTIONAL_REAL}),
    Llama3Scaling: ("llama3", {
        "factor": _REAL, "low_freq_factor": _REAL, "high_freq_factor": _REAL,
        "original_max_position_embeddings": _INT64}),
    ProportionalScaling: ("proportional", {
        "partial_rotary_factor": _OPTIONAL_REAL, "factor": _OPTIONAL_REAL}),
}
_SCALING_STRUCTS = {
    kind: type(kind.__name__ + "Struct", (ctypes.Structure,),
               {"_fields_": [("size", c_size_t), *fields.items()]})
    for kind, (_, fields) in _SCALINGS.items()}


class RotaryStruct(ctypes.Structure):
    """phasor_rotary."""

    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("width", c_int64),
        ("base", POINTER(c_double)),
        ("attention_factor", POINTER(c_double)),
        ("layout", c_int32),
        ("mrope_interleaved", c_int32),
        ("mrope_section", POINTER(c_int64)),
        ("mrope_section_count", c_size_t),
        *((name, POINTER(_SCALING_STRUCTS[kind])) for kind, (name, _) in _SCALINGS.items()),
        ("frequencies", POINTER(c_double)),
        ("frequency_count", c_size_t),
    ]


def _number(field: str, word: Any, words: tuple[str, ...], first: int) -> int:
    if not isinstance(word, str) or word not in words:
        raise field_error(InvalidArgument, field, f"{word!r} is none of {', '.join(words)}")
    return first + words.index(word)


def _pointer(kind: Any, value: Any) -> Any:
    return None if value is None else ctypes.pointer(kind(value))


def _boolean(field: str, value: Any) -> int:
    if value is not True and value is not False:
        raise field_error(InvalidArgument, field, f"{value!r} is neither True nor False")
    return int(value)


def _array(kind: Any, field: str, values: Any,
           item: Callable[[str, Any], Any]) -> tuple[Any, int]:
    """Values as an array of C's, and their number."""
    try:
        items = list(values)
    except TypeError:
        raise field_error(InvalidArgument, field, f"{values!r} is no list") from None
    taken = [item(f"{field}[{i}]", value) for i, value in enumerate(items)]
    return (kind * len(taken))(*taken), len(taken)


def _ladder(spec: Sinusoidal) -> int:
    if spec.ladder is None:
        implied = ("explicit" if spec.frequencies is not None else
                   "downscaled" if spec.downscale_shift is not None else
                   "timescales" if spec.min_timescale is not None or spec.max_timescale is not None
                   else "paper")
        return _LADDERS.index(implied)
    return _number("spec.sinusoidal.ladder", spec.ladder, _LADDERS, 0)


def _optional_real(field: str, value: Any) -> Any:
    return None if value is None else _pointer(c_double, real(field, value))


def _sinusoidal(spec: Sinusoidal) -> SinusoidalStruct:
    path = "spec.sinusoidal."
    struct = SinusoidalStruct(
        size=ctypes.sizeof(SinusoidalStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        width=int64(path + "width", spec.width),
        base=_optional_real(path + "base", spec.base),
        ladder=_ladder(spec),
        layout=_number(path + "layout", spec.layout, _LAYOUTS, 1),
        position_offset=int64(path + "position_offset", spec.position_offset),
        downscale_shift=_optional_real(path + "downscaled.downscale_shift", spec.downscale_shift),
        min_timescale=_optional_real(path + "timescales.min_timescale", spec.min_timescale),
        max_timescale=_optional_real(path + "timescales.max_timescale", spec.max_timescale))
    if spec.odd_column is not None:
        struct.odd_column = _number(path + "odd_column", spec.odd_column, _ODD_COLUMNS, 1)
    if spec.zero_row is not None:
        struct.zero_row = _pointer(c_int64, int64(path + "zero_row", spec.zero_row))
    if spec.frequencies is not None:
        struct.frequencies, struct.frequency_count = _array(
            c_double, path + "explicit.frequencies", spec.frequencies, real)
    return struct


def _learned_init(spec: LearnedInit) -> LearnedInitStruct:
    path = "spec.learned_init."
    return LearnedInitStruct(
        size=ctypes.sizeof(LearnedInitStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        max_positions=int64(path + "max_positions", spec.max_positions),
        width=int64(path + "width", spec.width),
        stddev=_optional_real(path + "stddev", spec.stddev),
        seed=int64(path + "seed", spec.seed),
        stream=int64(path + "stream", spec.stream))


def _c_text(field: str, value: Any) -> Optional[bytes]:
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise field_error(InvalidArgument, field, f"{value!r} is no text")
    return value.encode()


def _learned_table(spec: LearnedTable) -> LearnedTableStruct:
    path = "spec.learned_table."
    return LearnedTableStruct(
        size=ctypes.sizeof(LearnedTableStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        name=_c_text(path + "name", spec.name),
        content_sha256=_c_text(path + "content_sha256", spec.content_sha256),
        max_positions=int64(path + "max_positions", spec.max_positions or 0),
        width=int64(path + "width", spec.width or 0))


def _timestep(spec: Timestep) -> TimestepStruct:
    path = "spec.timestep."
    return TimestepStruct(
        size=ctypes.sizeof(TimestepStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        width=int64(path + "width", spec.width),
        max_period=_pointer(c_double, real(path + "max_period", spec.max_period)),
        downscale_freq_shift=_optional_real(path + "downscale_freq_shift",
                                            spec.downscale_freq_shift),
        scale=_pointer(c_double, real(path + "scale", spec.scale)),
        flip_sin_to_cos=_boolean(path + "flip_sin_to_cos", spec.flip_sin_to_cos))


def _none(spec: NoPosition) -> NoneStruct:
    path = "spec.none."
    return NoneStruct(
        size=ctypes.sizeof(NoneStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        width=int64(path + "width", spec.width),
        layout=_number(path + "layout", spec.layout, _LAYOUTS, 1),
        additive=_boolean(path + "additive", spec.additive))


def _alibi(spec: Alibi) -> AlibiStruct:
    path = "spec.alibi."
    return AlibiStruct(
        size=ctypes.sizeof(AlibiStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        head_count=int64(path + "head_count", spec.head_count),
        bias_max=_pointer(c_double, real(path + "bias_max", spec.bias_max)),
        form=_number(path + "form", spec.form, _FORMS, 0))


def _relative_buckets(spec: RelativeBuckets) -> RelativeBucketsStruct:
    path = "spec.relative_buckets."
    return RelativeBucketsStruct(
        size=ctypes.sizeof(RelativeBucketsStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        num_buckets=_pointer(c_int64, int64(path + "num_buckets", spec.num_buckets)),
        max_distance=_pointer(c_int64, int64(path + "max_distance", spec.max_distance)),
        bidirectional=_pointer(c_int32, _boolean(path + "bidirectional", spec.bidirectional)))


def _scaling(path: str, scaling: Any) -> tuple[str, Any]:
    if type(scaling) not in _SCALINGS:
        known = ", ".join(kind.__name__ for kind in _SCALINGS)
        raise field_error(InvalidArgument, path + "scaling", f"{scaling!r} is none of {known}")
    name, fields = _SCALINGS[type(scaling)]
    struct = _SCALING_STRUCTS[type(scaling)](size=ctypes.sizeof(_SCALING_STRUCTS[type(scaling)]))
    for field, kind in fields.items():
        where, value = f"{path}{name}.{field}", getattr(scaling, field, None)
        if field + "_count" in fields:
            array, count = _array(c_double, where, value, real)
            setattr(struct, field, array)
            setattr(struct, field + "_count", count)
        elif kind is _REAL:
            setattr(struct, field, real(where, value))
        elif kind is _INT64:
            setattr(struct, field, int64(where, value))
        elif kind is _OPTIONAL_REAL and value is not None:
            setattr(struct, field, _optional_real(where, value))
        elif kind is _OPTIONAL_BOOL:
            setattr(struct, field, _pointer(c_int32, _boolean(where, value)))
    return name, ctypes.pointer(struct)


def _rotary(spec: Rotary) -> RotaryStruct:
    path = "spec.rotary."
    struct = RotaryStruct(
        size=ctypes.sizeof(RotaryStruct),
        element_type=_number("spec.element_type", spec.element_type, ELEMENT_TYPES, 1),
        width=int64(path + "width", spec.width),
        base=_optional_real(path + "base", spec.base),
        attention_factor=_optional_real(path + "attention_factor", spec.attention_factor),
        layout=_number(path + "layout", spec.layout, _LAYOUTS, 1),
        mrope_interleaved=_boolean(path + "mrope_interleaved", spec.mrope_interleaved))
    struct.mrope_section, struct.mrope_section_count = _array(
        c_int64, path + "mrope_section", spec.mrope_section, int64)
    if spec.scaling is not None:
        name, scaling = _scaling(path, spec.scaling)
        setattr(struct, name, scaling)
    if spec.frequencies is not None:
        struct.frequencies, struct.frequency_count = _array(
            c_double, path + "explicit.frequencies", spec.frequencies, real)
    return struct


# A spec's name in the protocol, its struct, and what makes that.
SCHEMES: dict[type, tuple[str, type[ctypes.Structure], Callable[[Any], ctypes.Structure]]] = {
    Sinusoidal: ("sinusoidal", SinusoidalStruct, _sinusoidal),
    Rotary: ("rotary", RotaryStruct, _rotary),
    LearnedInit: ("learned_init", LearnedInitStruct, _learned_init),
    LearnedTable: ("learned_table", LearnedTableStruct, _learned_table),
    Timestep: ("timestep", TimestepStruct, _timestep),
    NoPosition: ("none", NoneStruct, _none),
    Alibi: ("alibi", AlibiStruct, _alibi),
    RelativeBuckets: ("relative_buckets", RelativeBucketsStruct, _relative_buckets),
}
SCALINGS = {name: kind for kind, (name, _) in _SCALINGS.items()}


def struct_of(spec: Spec) -> tuple[str, ctypes.Structure]:
    """The scheme's name, and the struct that phasor_spec_<scheme> takes.

    Raises InvalidArgument for what C has no type for.
    """
    if type(spec) not in SCHEMES:
        known = ", ".join(kind.__name__ for kind in SCHEMES)
        raise field_error(InvalidArgument, "spec", f"{spec!r} is none of {known}")
    scheme, _, make = SCHEMES[type(spec)]
    return scheme, make(spec)


def model_options(transformers_version: str, sequence_length: Optional[int], rotary_layout: str,
                  element_type: str) -> ModelOptionsStruct:
    """phasor_model_options; raises InvalidArgument for what C has no type for."""
    options = ModelOptionsStruct(
        size=ctypes.sizeof(ModelOptionsStruct),
        transformers_version=_number("transformers_version", transformers_version, _VERSIONS, 1),
        rotary_layout=_number("rotary_layout", rotary_layout, _LAYOUTS, 1),
        element_type=_number("element_type", element_type, ELEMENT_TYPES, 1))
    if sequence_length is not None:
        options.sequence_length = _pointer(c_int64, int64("sequence_length", sequence_length))
    return options
