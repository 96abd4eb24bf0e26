"""For PyTorch: tensors of rows, and position modules.

Needs torch (``pip install 'phasor-tables[torch]'``), 1.13 or later.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
import torch
from torch import Tensor, nn

from phasor_tables import local
from phasor_tables._client import Client
from phasor_tables._elements import array_of, no_memory
from phasor_tables.errors import InvalidArgument, OutOfRange, field_error
from phasor_tables.rotary import Rotary
from phasor_tables.specs import LearnedInit, Sinusoidal, int64

__all__ = ["LearnedPE", "RotaryEmbedding", "SinusoidalPE", "gather", "read", "to_tensor"]

Offset = Union[int, Sequence[int], Tensor]
"""Position of the first row: one for all sequences, or one for each of a batch, [B]."""

_ELEMENT_TYPES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
}
_DTYPES = {"int32": torch.int32,
           **{element_type: dtype for dtype, element_type in _ELEMENT_TYPES.items()}}


def read(table: Any, start: int, count: int) -> Tensor:
    """Rows start ... start+count-1 of a :class:`phasor_tables.Table`, [count, row_width].

    In main memory, of the table's type, bfloat16 included; the caller's own.

    **Errors**: those of Table.read.
    """
    start, count = table._table.range_of(start, count)
    return _filled(table, (count, table.row_width), lambda out: table.read(start, count, out=out))


def gather(table: Any, positions: Any, *, axes: int = 1) -> Tensor:
    """One row for each of ``positions``, [..., row_width], as :func:`read`.

    ``axes``, and **Errors**: those of Table.gather.
    """
    if isinstance(positions, Tensor):
        positions = positions.detach().cpu()
    wanted, axes, shape = table._table.positions_of(positions, axes)
    table._table.key.spec.check_positions(wanted)
    wanted = wanted.reshape(shape[:-1] if axes == 1 else (*shape[:-1], axes))
    return _filled(table, shape, lambda out: table.gather(wanted, out=out, axes=axes))


def to_tensor(rows: Any, element_type: Optional[str] = None) -> Tensor:
    """A tensor with the values of rows of a table; the caller's own.

    ``element_type="bfloat16"`` says that uint16 rows are bfloat16's bits, as they
    are where ml_dtypes is not installed.
    """
    array = np.array(array_of("rows", rows), subok=False)
    if element_type == "bfloat16" or array.dtype.name == "bfloat16":
        if array.dtype.itemsize != 2:
            raise field_error(InvalidArgument, "rows", f"are {array.dtype}, not bfloat16 or its bits")
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _filled(table: Any, shape: tuple[int, ...], fill: Callable[[Any], Any]) -> Tensor:
    dtype = _DTYPES[table.element_type]
    try:
        tensor = torch.empty(shape, dtype=dtype, device="cpu")
    except (RuntimeError, OverflowError):
        raise no_memory(shape, dtype) from None
    # NumPy has no bfloat16 of torch's.
    bits = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    fill(bits.numpy())
    return tensor


def _starts(offset: Any) -> tuple[list[int], bool]:
    """The offsets as integers, and whether there is one for each sequence."""
    if isinstance(offset, (Tensor, np.ndarray)):
        offset = offset.tolist()
    if isinstance(offset, (list, tuple)):
        return [int64(f"offset[{i}]", start) for i, start in enumerate(offset)], True
    return [int64("offset", offset)], False


def _starts_for(x: Tensor, offset: Offset) -> list[int]:
    """One offset for all sequences of ``x``, or one for each."""
    starts, many = _starts(offset)
    if many and (x.dim() != 3 or len(starts) != x.shape[0]):
        raise field_error(InvalidArgument, "offset",
                          f"has {len(starts)} of them for an input of shape {list(x.shape)}; "
                          "give one, or one a sequence of a batch [B, T, d]")
    return starts


def _check_tensor(field: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise field_error(InvalidArgument, field, f"is a {type(value).__name__}; give a tensor")


def _check_input(x: Tensor, d: int) -> None:
    _check_tensor("x", x)
    if x.dim() not in (2, 3) or x.shape[-1] != d:
        raise field_error(InvalidArgument, "x",
                          f"has shape {list(x.shape)}; give [T, {d}] or [B, T, {d}]")


def _stacked(rows: list[Tensor], length: int, like: Tensor) -> Tensor:
    """Rows of each sequence, [B, length, d]; of a batch of none, none."""
    return torch.stack(rows) if rows else like.new_empty(0, length, like.shape[-1])


class _Tables:
    """The tables of a formula, one an element type, opened when first used.

    Not a module: what modules hold of them is no parameter and no buffer.
    """

    def __init__(self, spec: Any, client: Any) -> None:
        if client is not None and not isinstance(client, Client):
            raise field_error(InvalidArgument, "client",
                              f"is a {type(client).__name__}, not a phasor_tables.Client")
        self._spec = spec
        self._open = local.open if client is None else client.open
        self._opened: dict[torch.dtype, Any] = {}
        self.of(torch.float32)  # refuses now what is wrong

    def of(self, dtype: torch.dtype) -> Any:
        table = self._opened.get(dtype)
        if table is None:
            if dtype not in _ELEMENT_TYPES:
                raise field_error(InvalidArgument, "x", f"is {dtype}; give a floating-point type")
            spec = dataclasses.replace(self._spec, element_type=_ELEMENT_TYPES[dtype])
            table = self._opened[dtype] = self._open(spec)
        return table


class SinusoidalPE(nn.Module):
    """Adds sinusoidal rows to its input.

    ``forward(x, offset)`` is x + PE[offset : offset+T], PE[p, 2i] = sin(p * w_i),
    PE[p, 2i+1] = cos(p * w_i), w_i = base**(-2i/d), each the correctly rounded value
    in x's own type. Nothing of it is a parameter, a buffer or in the state_dict.

    **Parameters**: ``d``, the model's width, even; ``base``; ``client``, a
    :class:`phasor_tables.Client` to read from, or None to compute here.

    **Errors**: InvalidArgument for an odd d, a base that is not above 1.
    """

    def __init__(self, d: int, base: float = 10000.0, *, client: Any = None) -> None:
        super().__init__()
        self.d = d
        self.base = base
        self._tables = _Tables(Sinusoidal(d, base), client)

    def forward(self, x: Tensor, offset: Offset = 0) -> Tensor:
        """x + rows: x is [T, d] or [B, T, d], in float32, float64, float16 or bfloat16.

        ``offset``: position of x's first row, for all sequences or one for each,
        [B]: with a key/value cache the number of tokens before it. The gradient
        passes to x unchanged.

        **Errors**: InvalidArgument (x, offset); OutOfRange past +-2**53.
        """
        _check_input(x, self.d)
        table = self._tables.of(x.dtype)
        length = x.shape[-2]
        rows = [read(table, start, length) for start in _starts_for(x, offset)]
        added = rows[0] if len(rows) == 1 else _stacked(rows, length, x)
        return x + added.to(x.device)

    def extra_repr(self) -> str:
        return f"{self.d}, base={self.base}"


class LearnedPE(nn.Module):
    """A learned table of positions, added to its input.

    ``weight`` is [max_len, d], drawn from N(0, std**2) as Phasor's ``learned_init``
    with this seed: the same numbers in every language (docs/seeded-init.md). Only
    the rows that were used get gradient. Past its end there is nothing.

    **Parameters**: ``dtype`` and ``device`` of the weight.

    **Errors**: InvalidArgument for a max_len, d or std that is not positive.
    """

    def __init__(self, max_len: int, d: int, std: float = 0.02, seed: int = 0, *,
                 dtype: torch.dtype = torch.float32, device: Any = None) -> None:
        super().__init__()
        if dtype not in _ELEMENT_TYPES:
            raise field_error(InvalidArgument, "dtype", f"{dtype} is no type of a table")
        self.max_len = max_len
        self.d = d
        self.std = std
        self.seed = seed
        self._initial(dtype)  # refuses now what is wrong
        self.weight = nn.Parameter(torch.empty(max_len, d, dtype=dtype, device=device))
        self.reset_parameters()

    def _initial(self, dtype: torch.dtype) -> Any:
        return local.open(LearnedInit(self.max_len, self.d, stddev=self.std, seed=self.seed,
                                      element_type=_ELEMENT_TYPES[dtype]))

    def reset_parameters(self) -> None:
        """Gives the weight its initial value again."""
        if self.weight.is_meta:
            return
        with torch.no_grad():
            self.weight.copy_(read(self._initial(self.weight.dtype), 0, self.max_len))

    def positions(self, T: int, offset: Offset = 0) -> Tensor:
        """Rows offset ... offset+T-1 of the weight, [T, d]; with an offset a sequence [B, T, d].

        **Errors**: InvalidArgument (T, offset); OutOfRange (offset) for rows before 0
        or past the end, never others in their place.
        """
        length = int64("T", T)
        if length < 0:
            raise field_error(InvalidArgument, "T", f"{length} is negative")
        starts, many = _starts(offset)
        for start in starts:
            if start < 0 or start + length > self.max_len:
                raise field_error(OutOfRange, "offset", f"rows {start} ... {start + length - 1} "
                                  f"are not all among the {self.max_len} there are")
        rows = [self.weight[start:start + length] for start in starts]
        return _stacked(rows, length, self.weight) if many else rows[0]

    def forward(self, x: Tensor, offset: Offset = 0) -> Tensor:
        """x + positions: x is [T, d] or [B, T, d]; ``offset`` as in SinusoidalPE.

        **Errors**: those of positions; InvalidArgument (x).
        """
        _check_input(x, self.d)
        starts = _starts_for(x, offset)
        return x + self.positions(x.shape[-2], starts[0] if len(starts) == 1 else starts)

    def extra_repr(self) -> str:
        return f"{self.max_len}, {self.d}, std={self.std}, seed={self.seed}"


class RotaryEmbedding(nn.Module):
    """Cosines and sines for rotary embedding, in place of Hugging Face's modules.

    ``model.model.rotary_emb = RotaryEmbedding(head_dim, rope_theta)``: ``cos, sin =
    rotary(x, position_ids)``, each the correctly rounded value in x's own type at
    every position. Nothing of it is a parameter, a buffer or in the state_dict: no
    ``.to(bfloat16)`` rounds its frequencies, and a model that was made on the meta
    device has nothing to fill in. Nor does it change with the sequences it has
    seen: a scaling that depends on a length (dynamic NTK, LongRoPE) is given one.

    **Parameters**: ``width``, ``base`` and further ``fields`` of
    :class:`phasor_tables.Rotary` but for the element type: head_dim or the rotated
    part of it, rope_theta, ``scaling=YarnScaling(...)`` ... ``layout``: what cos and
    sin look like, ``cos_sin_duplicated_halves``, [c0 c1 ... c0 c1 ...], as most models
    have it, ``cos_sin_duplicated_pairs``, [c0 c0 c1 c1 ...] (Cohere), or
    ``cos_sin_halves``, [c0 c1 ...], half as wide (gpt-oss). ``dtype`` of cos and sin:
    x's if None. ``client``, a :class:`phasor_tables.Client` to read from, or None to
    compute here.

    **Errors**: InvalidArgument naming the field (spec.rotary.width ...).
    """

    _LAYOUTS = ("cos_sin_duplicated_halves", "cos_sin_duplicated_pairs", "cos_sin_halves")

    def __init__(self, width: int, base: Optional[float] = None, *,
                 layout: str = "cos_sin_duplicated_halves", dtype: Optional[torch.dtype] = None,
                 client: Any = None, **fields: Any) -> None:
        super().__init__()
        if layout not in self._LAYOUTS:
            raise field_error(InvalidArgument, "spec.rotary.layout",
                              f"{layout!r} is none of {', '.join(self._LAYOUTS)}")
        if dtype is not None and dtype not in _ELEMENT_TYPES:
            raise field_error(InvalidArgument, "dtype", f"{dtype} is no type of a table")
        self.dtype = dtype
        self.spec = Rotary(width, base, layout=layout, **fields)
        self._tables = _Tables(self.spec, client)
        self.attention_scaling = self._tables.of(torch.float32).attention_factor
        """What cos and sin are multiplied by."""

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin, [B, T, width] each: of x's type, or ``dtype``, and on its device.

        ``position_ids``: integers, [B, T]; for M-RoPE [axes, B, T] too, whose axes are
        put together in cos and sin, as Qwen2-VL does when it applies them. Of x
        nothing else counts.

        **Errors**: InvalidArgument (x, position_ids); OutOfRange past +-2**53.
        """
        _check_tensor("x", x)
        _check_tensor("position_ids", position_ids)
        table = self._tables.of(x.dtype if self.dtype is None else self.dtype)
        several = position_ids.dim() == 3 and table.axes > 1
        if position_ids.dim() != 2 and not several or several and position_ids.shape[0] != table.axes:
            raise field_error(InvalidArgument, "position_ids", "are of shape "
                              f"{list(position_ids.shape)}; give [B, T], or [axes, B, T] to a "
                              f"table of several axes (this one has {table.axes})")
        if position_ids.is_floating_point() or position_ids.dtype == torch.bool:
            raise field_error(InvalidArgument, "position_ids",
                              f"are {position_ids.dtype}; give integers")
        if x.is_meta or position_ids.is_meta:
            rows = torch.empty((*position_ids.shape[-2:], table.row_width),
                               dtype=_DTYPES[table.element_type], device="meta")
        elif several:
            rows = gather(table, position_ids.movedim(0, -1), axes=table.axes).to(x.device)
        else:
            rows = _rows_at(table, position_ids.cpu().long()).to(x.device)
        cos, sin = rows.chunk(2, dim=-1)
        return cos.contiguous(), sin.contiguous()

    def extra_repr(self) -> str:
        return f"{self.spec}"


def _rows_at(table: Any, positions: Tensor) -> Tensor:
    """Rows at integer positions in main memory."""
    if positions.numel() == 0:
        return gather(table, positions)
    first, last = int(positions.min()), int(positions.max())
    # A range is made, or found in memory, in far less time than as many single rows.
    if last - first >= 2 * positions.numel():
        return gather(table, positions)
    return read(table, first, last - first + 1)[positions - first]
