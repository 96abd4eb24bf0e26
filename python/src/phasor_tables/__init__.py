"""Exact position tables for transformers: from a Phasor server, or computed here.

>>> from phasor_tables import Client
>>> client = Client("dns:///positions:50051", fallback="local")
>>> table = client.sinusoidal(width=512)
>>> prompt = table.read(0, 1000)            # [1000, 512], read-only
>>> cursor = table.cursor(1000)
>>> row = cursor.next()                     # then a row a token
>>> step = table.gather([17, 4093, 88])     # one step of a batch

:mod:`phasor_tables.local` computes in this process, :mod:`phasor_tables.models` reads
a model's tables off its config.json, :mod:`phasor_tables.aio` is for asyncio,
:mod:`phasor_tables.torch` has modules for PyTorch, and :mod:`phasor_tables.errors` what
is raised.
"""

from phasor_tables import errors, local, models
from phasor_tables._client import Client
from phasor_tables._connection import Counters, ServerInfo
from phasor_tables._elements import Rows
from phasor_tables._library import version as _version
from phasor_tables._table import Cursor, Table
from phasor_tables.errors import FieldViolation, PhasorError
from phasor_tables.formulas import shift_pe, sinusoidal_freqs, sinusoidal_pe
from phasor_tables.models import (CheckpointTable, ModelDescription, ModelTable,
                                  describe_model)
from phasor_tables.rotary import (DynamicNtkScaling, LinearScaling, Llama3Scaling, LongRopeScaling,
                                  NtkScaling, ProportionalScaling, Rotary, YarnScaling)
from phasor_tables.specs import (Alibi, LearnedInit, LearnedTable, NoPosition, RelativeBuckets,
                                 Sinusoidal, Timestep)

__version__ = _version()

__all__ = [
    "Alibi", "CheckpointTable", "Client", "Counters", "Cursor", "DynamicNtkScaling",
    "FieldViolation", "LearnedInit", "LearnedTable", "LinearScaling", "Llama3Scaling",
    "LongRopeScaling", "ModelDescription", "ModelTable", "NoPosition", "NtkScaling", "PhasorError",
    "ProportionalScaling", "RelativeBuckets", "Rotary", "Rows", "ServerInfo", "Sinusoidal",
    "Table", "Timestep", "YarnScaling", "describe_model", "errors", "local", "models", "shift_pe",
    "sinusoidal_freqs", "sinusoidal_pe",
]
