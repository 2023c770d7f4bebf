"""Search over memories. The only place that knows Whoosh."""

import functools
import sys
from types import ModuleType

# Whoosh takes `cached_property` from a package that imports asyncio, a tenth of a cold search; the standard library has
# the same, but for coroutines.
_stand_in = ModuleType("cached_property")
_stand_in.__dict__["cached_property"] = functools.cached_property
sys.modules.setdefault("cached_property", _stand_in)
