"""The package's types hold, and what it says of itself is so."""

import importlib
import inspect
import pathlib
import subprocess
import sys

import pytest

import phasor_tables
from phasord import BUILD

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"


def test_mypy():
    pytest.importorskip("mypy")
    cache = BUILD / "mypy_cache"
    ended = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache], cwd=PYTHON,
                           capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_types_are_shipped():
    assert pathlib.Path(phasor_tables.__file__).with_name("py.typed").exists()


def test_everything_public_is_described():
    for module in pathlib.Path(phasor_tables.__file__).parent.glob("[a-z_]*.py"):
        if module.stem == "torch":
            pytest.importorskip("torch")
        name = "phasor_tables." + module.stem if module.stem != "__init__" else "phasor_tables"
        described = importlib.import_module(name)
        assert described.__doc__, module.name
        for name, thing in vars(described).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != described.__name__:
                continue
            if module.stem.startswith("_") and name not in phasor_tables.__all__:
                continue
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert thing.__doc__, f"{module.stem}.{name}"
            if inspect.isclass(thing):
                for method, function in vars(thing).items():
                    if not method.startswith("_") and inspect.isfunction(function):
                        assert inspect.getdoc(getattr(thing, method)), f"{module.stem}.{name}.{method}"
