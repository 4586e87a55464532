"""Calls a function once another module is there: at once, or at the end of its import."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any, Callable


class OnImport(MetaPathFinder):
    """Finds nothing itself: it adds a call to the end of one module's import."""

    def __init__(self, name: str, call: Callable[[ModuleType], None]):
        self.name, self.call = name, call

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            execute(module)
            self.call(module)

        spec.loader.exec_module = execute_and_call  # type: ignore[method-assign]
        return spec


def on_import(name: str, call: Callable[[ModuleType], None]) -> None:
    """call(module), now or when something imports the module."""
    if name in sys.modules:
        call(sys.modules[name])
    else:
        sys.meta_path.insert(0, OnImport(name, call))
