"""The position tables of a model, from its config.json.

What Hugging Face's transformers makes of a configuration, key by key; docs/models.md
lists the model types and rules. Read in this process; a server is asked for rows
alone.

>>> from phasor_tables import describe_model, local
>>> text = pathlib.Path("gemma3/config.json").read_text()
>>> [table.name for table in describe_model(text).tables]
['full_attention', 'sliding_attention']
>>> local.open_model(text, "sliding_attention").read(0, 4096)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple, Union

from phasor_tables import _library
from phasor_tables._structs import USES, ModelOptionsStruct, model_options
from phasor_tables._wire import spec_of
from phasor_tables.errors import InvalidArgument, field_error
from phasor_tables.specs import Spec

__all__ = ["CheckpointTable", "ModelDescription", "ModelTable", "describe_model"]

ConfigJson = Union[str, bytes]


@dataclass(frozen=True)
class CheckpointTable:
    """A learned table, whose values are in the model's checkpoint."""

    tensors: Tuple[str, ...]
    """How the tensor's name may end."""
    rows: int
    """Of the tensor."""
    width: int
    """Elements in a row."""
    row_offset: int
    """The row of position 0."""


@dataclass(frozen=True)
class ModelTable:
    """One table of a model."""

    name: str
    """Unique in the model: ``rotary``, ``sliding_attention``, ``encoder`` ..."""
    description: str
    """In words."""
    use: str
    """What the model does with its rows: ``add`` them to the token embeddings; turn
    elements i and i + h of queries and keys (``rotate_halves``), 2i and 2i + 1
    (``rotate_pairs``), or these, left at i and i + h (``rotate_to_halves``);
    ``nothing``, of layers without positions; ``add_to_scores`` (ALiBi); ``look_up``
    rows of its own table (T5)."""
    spec: Optional[Spec]
    """The table as ``Client.open`` takes it; None for learned ones."""
    fingerprint: Optional[str]
    """Of that spec."""
    checkpoint: Optional[CheckpointTable]
    """Where the values of learned ones are."""
    layers: Tuple[int, ...]
    """Layers that use it, counted from 0, ascending; empty for all, or where the
    configuration does not tell."""
    first_channel: int
    """Where in the head the turned channels begin."""
    softmax_factor: Optional[float]
    """What attention scores are multiplied by on top (DeepSeek's YaRN): no part of the
    table."""


@dataclass(frozen=True)
class ModelDescription:
    """A model's tables."""

    model_type: str
    """As the configuration names it."""
    tables: Tuple[ModelTable, ...]
    """At least one."""
    keys_used: Tuple[str, ...]
    """Paths of the keys that decided something (``rope_scaling.factor``), sorted."""
    keys_ignored: Tuple[str, ...]
    """Paths of keys about positions that decided nothing, sorted."""
    warnings: Tuple[str, ...]
    """What a reader should know: versions that disagree, guesses made."""

    def find(self, name: str) -> Optional[ModelTable]:
        """The table of that name; None if there is none."""
        return next((table for table in self.tables if table.name == name), None)


def describe_model(config_json: ConfigJson, *, transformers_version: str = "5.16",
                   sequence_length: Optional[int] = None, rotary_layout: str = "cos_sin_halves",
                   element_type: str = "float32") -> ModelDescription:
    """Reads a model's tables off the text of its config.json, which is at most 1 MiB.

    ``transformers_version``: whose reading, ``5.16``, ``5.0`` or ``4.46``. ``sequence_length``:
    the length that length-dependent tables (dynamic NTK, LongRoPE) are for, 1 ... 2**53;
    without it such a model has one table up to the length that it was trained for, and
    LongRoPE one more beyond. ``rotary_layout`` and ``element_type`` of the tables: as
    :class:`phasor_tables.Rotary` has them. A model type that is not known, with RoPE's
    keys, is read as llama is, and a warning says so.

    **Errors**: InvalidArgument naming the key (config_json.rope_scaling.factor) and its
    value, or the option.
    """
    options = model_options(transformers_version, sequence_length, rotary_layout, element_type)
    with _library.described(_bytes("config_json", config_json), options) as pointer:
        model = pointer.contents
        return ModelDescription(
            model_type=_text(model.model_type),
            tables=tuple(_table(model.tables[i].contents) for i in range(model.table_count)),
            keys_used=_texts(model.keys_used, model.keys_used_count),
            keys_ignored=_texts(model.keys_ignored, model.keys_ignored_count),
            warnings=_texts(model.warnings, model.warning_count))


def model_spec(config_json: ConfigJson, table: Optional[str] = None, **options: Any) -> Spec:
    """The spec of a model's table of that name, or of the only one that has a spec.

    ``options``: those of :func:`describe_model`.

    **Errors**: those of describe_model; InvalidArgument (table), listing the names, for
    one that is not there, or none where there are several; for one whose values are in
    a checkpoint.
    """
    name = _bytes("table", "" if table is None else table)
    if b"\0" in name:
        raise field_error(InvalidArgument, "table", f"{table!r} is no table's name")
    defaults = describe_model.__kwdefaults__
    unknown = sorted(options.keys() - defaults.keys())
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no option of describe_model")
    wanted: ModelOptionsStruct = model_options(**{**defaults, **options})
    with _library.described(_bytes("config_json", config_json), wanted) as model:
        return spec_of(_library.spec_text(_library.model_spec(model, name)))


def _bytes(field: str, text: Any) -> bytes:
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode(errors="surrogatepass")  # which is then no UTF-8
    raise field_error(InvalidArgument, field, f"is a {type(text).__name__}, not text")


def _text(text: bytes) -> str:
    return text.decode(errors="replace")


def _texts(texts: Any, count: int) -> Tuple[str, ...]:
    return tuple(_text(texts[i]) for i in range(count))


def _table(table: Any) -> ModelTable:
    checkpoint = table.checkpoint.contents if table.checkpoint else None
    return ModelTable(
        name=_text(table.name),
        description=_text(table.description),
        use=USES[table.use - 1],
        spec=spec_of(_library.spec_text(table.spec)) if table.spec else None,
        fingerprint=_library.spec_fingerprint(table.spec) if table.spec else None,
        checkpoint=None if checkpoint is None else CheckpointTable(
            _texts(checkpoint.tensors, checkpoint.tensor_count), checkpoint.rows,
            checkpoint.width, checkpoint.row_offset),
        layers=tuple(table.layers[i] for i in range(table.layer_count)),
        first_channel=table.first_channel,
        softmax_factor=table.softmax_factor.contents.value if table.softmax_factor else None)
