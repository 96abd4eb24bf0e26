"""libphasor.so: the checked spec and the kernel, by ctypes (core/c/phasor.h).

Calls release the interpreter's lock. What they give away is immutable, and
may be used by any number of threads, and by processes forked from this one.
"""

from __future__ import annotations

import contextlib
import ctypes
import pathlib
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, Iterator, Optional

import numpy as np

from phasor_tables._structs import (ELEMENT_TYPES, SCHEMES, ModelOptionsStruct, ModelStruct,
                                    struct_of)
from phasor_tables.errors import FieldViolation, error_of
from phasor_tables.specs import Spec

_CODES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 8: "RESOURCE_EXHAUSTED", 11: "OUT_OF_RANGE",
          13: "INTERNAL"}


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int32), ("field", c_char * 124), ("message", c_char * 1024)]


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libphasor.so")))
    error = POINTER(_Error)
    functions: dict[str, tuple[Any, list[Any]]] = {
        **{f"phasor_spec_{scheme}": (c_int32, [POINTER(struct), POINTER(c_void_p), error])
           for scheme, struct, _ in SCHEMES.values()},
        "phasor_spec_free": (None, [c_void_p]),
        "phasor_spec_text": (c_char_p, [c_void_p]),
        "phasor_spec_fingerprint": (c_char_p, [c_void_p]),
        "phasor_spec_element_type": (c_int32, [c_void_p]),
        "phasor_spec_row_width": (c_int64, [c_void_p]),
        "phasor_spec_row_bytes": (c_int64, [c_void_p]),
        "phasor_spec_axes": (c_int64, [c_void_p]),
        "phasor_spec_attention_factor": (c_double, [c_void_p]),
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
        **{f"phasor_gather{kind}": (
            c_int32, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, error])
           for kind in ("", "_real", "_axes", "_axes_real")},
        "phasor_describe_model": (c_int32, [c_char_p, c_size_t, POINTER(ModelOptionsStruct),
                                            POINTER(POINTER(ModelStruct)), error]),
        "phasor_model_free": (None, [POINTER(ModelStruct)]),
        "phasor_model_spec": (c_int32, [POINTER(ModelStruct), c_char_p, POINTER(c_void_p), error]),
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


# Keeps the interpreter's lock: it copies for less time than it takes to get that back.
_gather_blocks = ctypes.PyDLL(_phasor._name).phasor_gather_blocks
_gather_blocks.restype = c_size_t
_gather_blocks.argtypes = [c_void_p, c_size_t, c_size_t, c_void_p, c_size_t, c_void_p]


def gather_blocks(blocks: np.ndarray[Any, Any], positions: np.ndarray[Any, Any],
                  out: np.ndarray[Any, Any]) -> bool:
    """Fills ``out``, [n, row_width], with the rows at n positions, if they are in the blocks.

    ``blocks`` is [m, 4], int64: structs phasor_block in the order of their positions.
    """
    taken: int = _gather_blocks(blocks.ctypes.data, len(blocks), out.shape[1] * out.itemsize,
                                positions.ctypes.data, positions.size, out.ctypes.data)
    return taken == positions.size


def _text(value: bytes) -> str:
    return value.decode()


def _check(code: int, error: _Error) -> None:
    if code == 0:
        return
    message, field = (text.decode(errors="replace") for text in (error.message, error.field))
    what = message[len(field) + 2:] if message.startswith(field + ": ") else message
    violations = [FieldViolation(field, what)] if field else []
    raise error_of(_CODES.get(code, "UNKNOWN"), message, violations)


@contextlib.contextmanager
def described(config_json: bytes, options: ModelOptionsStruct) -> Iterator[Any]:
    """The tables of a model, a pointer to a ModelStruct that is valid inside."""
    model, error = POINTER(ModelStruct)(), _Error()
    _check(_phasor.phasor_describe_model(config_json, len(config_json), byref(options),
                                         byref(model), byref(error)), error)
    try:
        yield model
    finally:
        _phasor.phasor_model_free(model)


def model_spec(model: Any, table: bytes) -> int:
    """The spec of a model's table of that name, or of the only one, as spec_text takes it."""
    spec, error = c_void_p(), _Error()
    _check(_phasor.phasor_model_spec(model, table, byref(spec), byref(error)), error)
    assert spec.value is not None
    return spec.value


def spec_text(spec: int) -> str:
    """The canonical text of a spec of a model's."""
    return _text(_phasor.phasor_spec_text(spec))


def spec_fingerprint(spec: int) -> str:
    """And its fingerprint."""
    return _text(_phasor.phasor_spec_fingerprint(spec))


class CheckedSpec:
    """A spec that is right: every field in range."""

    def __init__(self, spec: Spec) -> None:
        self._spec: Optional[int] = None
        handle, error = c_void_p(), _Error()
        scheme, struct = struct_of(spec)
        check = getattr(_phasor, "phasor_spec_" + scheme)
        _check(check(byref(struct), byref(handle), byref(error)), error)
        self._spec = handle.value
        self.source = spec
        self.text = _text(_phasor.phasor_spec_text(handle))
        self.fingerprint = _text(_phasor.phasor_spec_fingerprint(handle))
        self.element_type = ELEMENT_TYPES[_phasor.phasor_spec_element_type(handle) - 1]
        self.row_width: int = _phasor.phasor_spec_row_width(handle)
        self.row_bytes: int = _phasor.phasor_spec_row_bytes(handle)
        self.axes: int = _phasor.phasor_spec_axes(handle)
        self.attention_factor: float = _phasor.phasor_spec_attention_factor(handle)
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

    def gather(self, positions: np.ndarray[Any, Any], axes: int,
               out: np.ndarray[Any, Any]) -> None:
        """Writes one row for each ``axes`` of the positions, int64 or float64, to ``out``."""
        name = "phasor_gather" + ("" if axes == 1 else "_axes") + (
            "" if positions.dtype == np.int64 else "_real")
        error = _Error()
        _check(getattr(_phasor, name)(self._table, positions.ctypes.data, positions.size,
                                      out.ctypes.data, out.nbytes, byref(error)), error)
