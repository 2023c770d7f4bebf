"""Search over memories. The only place that knows Whoosh."""

import functools
import importlib
import sys
from types import ModuleType
from typing import Any


class _StandIn(ModuleType):
    """A module of which one member is at hand; who asks for another gets the real one's, which is loaded then."""

    def real(self) -> ModuleType:
        """The module itself, which takes its place back."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return importlib.import_module(self.__name__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.real(), name)


def _stand_in(module: str, member: str, value: object = None) -> None:
    """Put one in the module's place, unless that is loaded; without a value its member is a function of the module."""
    stand_in = _StandIn(module)

    def call(*given: Any, **named: Any) -> Any:
        return getattr(stand_in.real(), member)(*given, **named)

    setattr(stand_in, member, value or call)
    if sys.modules.setdefault(module, stand_in) is stand_in:
        package, _, name = module.rpartition(".")
        if package:
            setattr(importlib.import_module(package), name, stand_in)


# Whoosh loads two modules that no search needs, each a tenth of a cold one: `cached_property`, which imports asyncio
# (the standard library's is the same but for coroutines), and for its benchmarks an HTTP client.
_stand_in("cached_property", "cached_property", functools.cached_property)
_stand_in("urllib.request", "urlretrieve")
