"""Elements as NumPy holds them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from phasor_tables.errors import InvalidArgument, ResourceExhausted, field_error

try:
    import ml_dtypes

    BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
except ImportError:  # the bits
    BFLOAT16 = np.dtype("<u2")

Array = np.ndarray[Any, Any]

_DTYPES: dict[str, np.dtype[Any]] = {
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
    "float16": np.dtype("<f2"),
    "bfloat16": BFLOAT16,
    "int32": np.dtype("<i4"),
}


def dtype_of(element_type: str) -> np.dtype[Any]:
    """NumPy's type for an element type of the protocol."""
    return _DTYPES[element_type]


class Rows(np.ndarray[Any, Any]):
    """Rows of a table: a read-only NumPy array, [..., row_width].

    What is computed from it is an ordinary array. Others that speak DLPack
    (``torch.from_dlpack``, ``jax.dlpack.from_dlpack``) get its memory where
    they can be told that it is read-only, and a copy of their own otherwise.
    """

    first: int
    """Of a block that is kept: the position of its first row."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if plain.ndim == 0 else plain

    def __dlpack__(self, **options: Any) -> Any:
        version = options.get("max_version")
        if version is not None and version >= (1, 0) and _SIGNALS_READ_ONLY:
            return super().__dlpack__(**options)
        return np.array(self, subok=False).__dlpack__(stream=options.get("stream"))


_SIGNALS_READ_ONLY = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 1)


def read_only(array: Array) -> Rows:
    """``array``, which is nobody else's, to be given away."""
    for owner in (array.base, array):
        if isinstance(owner, np.ndarray):
            owner.flags.writeable = False  # or that of the view could be set again
    return array.view(Rows)


def array_of(field: str, value: Any) -> Array:
    """``value`` as an array, or an error that names ``field``."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists; tensors elsewhere
        raise field_error(InvalidArgument, field, f"is no array in main memory: {error}") from None


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array to be filled."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):
        raise no_memory(shape, dtype) from None


def no_memory(shape: tuple[int, ...], dtype: Any) -> ResourceExhausted:
    """The error for an array that is too large."""
    return ResourceExhausted(f"no memory for {list(shape)} elements of {dtype}; ask for less")


def bytes_of(array: Array) -> Array:
    """The bytes of a contiguous array, [n]."""
    return array.reshape(-1).view(np.uint8)


def holds(array: Array, dtype: np.dtype[Any]) -> bool:
    """Whether an array's elements are those of a table: for bfloat16 its bits will do."""
    return bool(array.dtype == dtype or (dtype == BFLOAT16 and array.dtype in ("<u2", "<i2")))


def output(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The array behind an ``out`` argument, checked."""
    array: Array = out
    if not isinstance(out, np.ndarray):
        if not hasattr(out, "numpy"):  # as tensors in main memory have
            raise field_error(InvalidArgument, "out", f"is a {type(out).__name__}, not an array")
        try:
            # NumPy has no bfloat16 of torch's: its bits.
            if str(getattr(out, "dtype", None)) == "torch.bfloat16":
                out = out.view(sys.modules["torch"].int16)
            array = out.numpy()
        except (RuntimeError, TypeError) as error:
            raise field_error(InvalidArgument, "out", f"is no array in main memory: {error}") from None
    if not holds(array, dtype) or array.shape != shape:
        raise field_error(InvalidArgument, "out", f"is {array.dtype} {list(array.shape)}; "
                          f"{dtype} {list(shape)} is written")
    if not array.flags.writeable or not array.flags.c_contiguous:
        raise field_error(InvalidArgument, "out", "has to be writable and contiguous")
    return array.view(dtype)
