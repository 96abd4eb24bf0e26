"""Specs as the structs of phasor.h (core/c/phasor.h)."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t
from typing import Any, Callable, Optional

from phasor_tables.errors import InvalidArgument, field_error
from phasor_tables.rotary import (DynamicNtkScaling, LinearScaling, Llama3Scaling, LongRopeScaling,
                                  NtkScaling, ProportionalScaling, Rotary, YarnScaling)
from phasor_tables.specs import LearnedInit, LearnedTable, Sinusoidal, Spec, int64, real

ELEMENT_TYPES = ("float32", "float64", "float16", "bfloat16")  # from 1
_LADDERS = ("paper", "inclusive", "downscaled", "explicit")  # from 0
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
    if word not in words:
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
                   "downscaled" if spec.downscale_shift is not None else "paper")
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
        downscale_shift=_optional_real(path + "downscaled.downscale_shift", spec.downscale_shift))
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


def struct_of(spec: Spec) -> tuple[str, ctypes.Structure]:
    """The scheme's name, and the struct that phasor_spec_<scheme> takes.

    Raises InvalidArgument for what C has no type for.
    """
    if isinstance(spec, Sinusoidal):
        return "sinusoidal", _sinusoidal(spec)
    if isinstance(spec, Rotary):
        return "rotary", _rotary(spec)
    if isinstance(spec, LearnedInit):
        return "learned_init", _learned_init(spec)
    if isinstance(spec, LearnedTable):
        return "learned_table", _learned_table(spec)
    raise TypeError(f"{spec!r} is no spec of a table")
