"""libphasor.so: the checked spec and the kernel, by ctypes (core/c/phasor.h).

Calls release the interpreter's lock. What they give away is immutable, and
may be used by any number of threads, and by processes forked from this one.
"""

from __future__ import annotations

import ctypes
import pathlib
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Optional

import numpy as np

from phasor_tables.errors import FieldViolation, InvalidArgument, error_of, field_error
from phasor_tables.specs import LearnedInit, LearnedTable, Sinusoidal, Spec, int64, real

_CODES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 8: "RESOURCE_EXHAUSTED", 11: "OUT_OF_RANGE",
          13: "INTERNAL"}
_ELEMENT_TYPES = ("float32", "float64", "float16", "bfloat16")  # from 1
_LADDERS = ("paper", "inclusive", "downscaled", "explicit")  # from 0
_LAYOUTS = ("sin_cos_interleaved", "sin_cos_halves", "cos_sin_halves", "cos_sin_interleaved",
            "cos_sin_duplicated_halves", "cos_sin_duplicated_pairs", "cos_only",
            "sin_only")  # from 1


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int32), ("field", c_char * 124), ("message", c_char * 1024)]


class _SinusoidalStruct(ctypes.Structure):
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


class _LearnedInitStruct(ctypes.Structure):
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


class _LearnedTableStruct(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_int32),
        ("numerics", c_int32),
        ("name", c_char_p),
        ("content_sha256", c_char_p),
        ("max_positions", c_int64),
        ("width", c_int64),
    ]


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libphasor.so")))
    error = POINTER(_Error)
    functions: dict[str, tuple[Any, list[Any]]] = {
        "phasor_spec_sinusoidal": (c_int32, [POINTER(_SinusoidalStruct), POINTER(c_void_p), error]),
        "phasor_spec_learned_init": (
            c_int32, [POINTER(_LearnedInitStruct), POINTER(c_void_p), error]),
        "phasor_spec_learned_table": (
            c_int32, [POINTER(_LearnedTableStruct), POINTER(c_void_p), error]),
        "phasor_spec_free": (None, [c_void_p]),
        "phasor_spec_text": (c_char_p, [c_void_p]),
        "phasor_spec_fingerprint": (c_char_p, [c_void_p]),
        "phasor_spec_element_type": (c_int32, [c_void_p]),
        "phasor_spec_row_width": (c_int64, [c_void_p]),
        "phasor_spec_row_bytes": (c_int64, [c_void_p]),
        "phasor_spec_first_position": (c_int64, [c_void_p]),
        "phasor_spec_last_position": (c_int64, [c_void_p]),
        "phasor_spec_bounded": (c_int32, [c_void_p]),
        "phasor_check_range": (c_int32, [c_void_p, c_int64, c_int64, error]),
        "phasor_check_positions": (c_int32, [c_void_p, c_void_p, c_size_t, error]),
        "phasor_check_real_positions": (c_int32, [c_void_p, c_void_p, c_size_t, error]),
        "phasor_frequency_count": (c_size_t, [c_void_p]),
        "phasor_frequencies": (c_int32, [c_void_p, c_void_p, c_size_t, error]),
        "phasor_shift": (c_int32, [c_void_p, c_int64, c_void_p, c_void_p, c_size_t, error]),
        "phasor_shift_real": (c_int32, [c_void_p, c_double, c_void_p, c_void_p, c_size_t, error]),
        "phasor_open": (c_int32, [c_void_p, POINTER(c_void_p), error]),
        "phasor_close": (None, [c_void_p]),
        "phasor_read": (c_int32, [c_void_p, c_int64, c_int64, c_void_p, c_size_t, error]),
        "phasor_gather": (c_int32, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, error]),
        "phasor_gather_real": (c_int32, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, error]),
        "phasor_version": (c_char_p, []),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


_phasor = _load()


def version() -> str:
    """The library's version."""
    return _text(_phasor.phasor_version())


def _text(value: bytes) -> str:
    return value.decode()


def _check(code: int, error: _Error) -> None:
    if code == 0:
        return
    message, field = (text.decode(errors="replace") for text in (error.message, error.field))
    what = message[len(field) + 2:] if message.startswith(field + ": ") else message
    violations = [FieldViolation(field, what)] if field else []
    raise error_of(_CODES.get(code, "UNKNOWN"), message, violations)


def _number(field: str, word: Any, words: tuple[str, ...], first: int) -> int:
    if word not in words:
        raise field_error(InvalidArgument, field, f"{word!r} is none of {', '.join(words)}")
    return first + words.index(word)


def _pointer(kind: Any, value: Any) -> Any:
    return None if value is None else ctypes.pointer(kind(value))


class CheckedSpec:
    """A spec that is right: every field in range."""

    def __init__(self, spec: Spec) -> None:
        self._spec: Optional[int] = None
        handle, error = c_void_p(), _Error()
        if isinstance(spec, Sinusoidal):
            code = _phasor.phasor_spec_sinusoidal(byref(_sinusoidal(spec)), byref(handle),
                                                  byref(error))
        elif isinstance(spec, LearnedInit):
            code = _phasor.phasor_spec_learned_init(byref(_learned_init(spec)), byref(handle),
                                                    byref(error))
        elif isinstance(spec, LearnedTable):
            code = _phasor.phasor_spec_learned_table(byref(_learned_table(spec)), byref(handle),
                                                     byref(error))
        else:
            raise TypeError(f"{spec!r} is no spec of a table")
        _check(code, error)
        self._spec = handle.value
        self.source = spec
        self.text = _text(_phasor.phasor_spec_text(handle))
        self.fingerprint = _text(_phasor.phasor_spec_fingerprint(handle))
        self.element_type = _ELEMENT_TYPES[_phasor.phasor_spec_element_type(handle) - 1]
        self.row_width: int = _phasor.phasor_spec_row_width(handle)
        self.row_bytes: int = _phasor.phasor_spec_row_bytes(handle)
        self.first_position: int = _phasor.phasor_spec_first_position(handle)
        self.last_position: int = _phasor.phasor_spec_last_position(handle)
        self.bounded = bool(_phasor.phasor_spec_bounded(handle))
        self.frequency_count: int = _phasor.phasor_frequency_count(handle)

    # Bound here: at the interpreter's end the module may be gone first.
    def __del__(self, free: Any = _phasor.phasor_spec_free) -> None:
        if self._spec is not None:
            free(self._spec)

    def check_range(self, start: int, count: int) -> None:
        """Raises unless rows start ... start+count-1 exist."""
        error = _Error()
        _check(_phasor.phasor_check_range(self._spec, start, count, byref(error)), error)

    def check_positions(self, positions: np.ndarray[Any, Any]) -> None:
        """Raises unless all of the positions, int64 or float64, have rows."""
        error = _Error()
        check = (_phasor.phasor_check_positions
                 if positions.dtype == np.int64 else _phasor.phasor_check_real_positions)
        _check(check(self._spec, positions.ctypes.data, positions.size, byref(error)), error)

    def frequencies(self) -> np.ndarray[Any, Any]:
        """The angular frequencies, float64 [frequency_count]."""
        out = np.empty(self.frequency_count)
        error = _Error()
        _check(_phasor.phasor_frequencies(self._spec, out.ctypes.data, out.size, byref(error)),
               error)
        return out

    def shift(self, rows: np.ndarray[Any, Any], by: int | float, out: np.ndarray[Any, Any]) -> None:
        """Writes to ``out`` the rows ``by`` on; both are contiguous."""
        function = _phasor.phasor_shift if isinstance(by, int) else _phasor.phasor_shift_real
        error = _Error()
        _check(function(self._spec, by, rows.ctypes.data, out.ctypes.data, rows.nbytes,
                        byref(error)), error)


class Kernel:
    """A table computed in this process."""

    def __init__(self, spec: CheckedSpec) -> None:
        self._table: Optional[int] = None
        handle, error = c_void_p(), _Error()
        _check(_phasor.phasor_open(spec._spec, byref(handle), byref(error)), error)
        self._table = handle.value

    def __del__(self, close: Any = _phasor.phasor_close) -> None:
        if self._table is not None:
            close(self._table)

    def read(self, start: int, count: int, out: np.ndarray[Any, Any]) -> None:
        """Writes rows start ... start+count-1 to ``out``, which is contiguous."""
        error = _Error()
        _check(_phasor.phasor_read(self._table, start, count, out.ctypes.data, out.nbytes,
                                   byref(error)), error)

    def gather(self, positions: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
        """Writes one row for each of the positions, int64 or float64, to ``out``."""
        function = (_phasor.phasor_gather
                    if positions.dtype == np.int64 else _phasor.phasor_gather_real)
        error = _Error()
        _check(function(self._table, positions.ctypes.data, positions.size, out.ctypes.data,
                        out.nbytes, byref(error)), error)


def _ladder(spec: Sinusoidal) -> int:
    if spec.ladder is None:
        implied = ("explicit" if spec.frequencies is not None else
                   "downscaled" if spec.downscale_shift is not None else "paper")
        return _LADDERS.index(implied)
    return _number("spec.sinusoidal.ladder", spec.ladder, _LADDERS, 0)


def _optional_real(field: str, value: Any) -> Any:
    return None if value is None else _pointer(c_double, real(field, value))


def _sinusoidal(spec: Sinusoidal) -> _SinusoidalStruct:
    path = "spec.sinusoidal."
    struct = _SinusoidalStruct(
        size=ctypes.sizeof(_SinusoidalStruct),
        element_type=_number("spec.element_type", spec.element_type, _ELEMENT_TYPES, 1),
        width=int64(path + "width", spec.width),
        base=_optional_real(path + "base", spec.base),
        ladder=_ladder(spec),
        layout=_number(path + "layout", spec.layout, _LAYOUTS, 1),
        position_offset=int64(path + "position_offset", spec.position_offset),
        downscale_shift=_optional_real(path + "downscaled.downscale_shift", spec.downscale_shift))
    if spec.zero_row is not None:
        struct.zero_row = _pointer(c_int64, int64(path + "zero_row", spec.zero_row))
    if spec.frequencies is not None:
        values = [real(f"{path}explicit.frequencies[{i}]", value)
                  for i, value in enumerate(spec.frequencies)]
        struct.frequencies = (c_double * len(values))(*values)
        struct.frequency_count = len(values)
    return struct


def _c_text(field: str, value: Any) -> Optional[bytes]:
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise field_error(InvalidArgument, field, f"{value!r} is no text")
    return value.encode()


def _learned_table(spec: LearnedTable) -> _LearnedTableStruct:
    path = "spec.learned_table."
    return _LearnedTableStruct(
        size=ctypes.sizeof(_LearnedTableStruct),
        element_type=_number("spec.element_type", spec.element_type, _ELEMENT_TYPES, 1),
        name=_c_text(path + "name", spec.name),
        content_sha256=_c_text(path + "content_sha256", spec.content_sha256),
        max_positions=int64(path + "max_positions", spec.max_positions or 0),
        width=int64(path + "width", spec.width or 0))


def _learned_init(spec: LearnedInit) -> _LearnedInitStruct:
    path = "spec.learned_init."
    return _LearnedInitStruct(
        size=ctypes.sizeof(_LearnedInitStruct),
        element_type=_number("spec.element_type", spec.element_type, _ELEMENT_TYPES, 1),
        max_positions=int64(path + "max_positions", spec.max_positions),
        width=int64(path + "width", spec.width),
        stddev=_optional_real(path + "stddev", spec.stddev),
        seed=int64(path + "seed", spec.seed),
        stream=int64(path + "stream", spec.stream))
