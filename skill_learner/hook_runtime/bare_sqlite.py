"""SQLite as C gives it: without the date and time adapters of `sqlite3`, which cost more than a
search, and without what `_sqlite3` itself imports.

From Python 3.11 on it imports `functools` for `lru_cache` alone, which keeps its statements, and
with that `collections` and more: a quarter of what a bare interpreter costs.
"""

import sys

__all__ = ["sqlite3"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
else:

    def _import():
        if "functools" in sys.modules or sys.version_info < (3, 11):
            return __import__("_sqlite3")
        stand_in = type(sys)("functools")
        try:
            wrap = __import__("_functools")._lru_cache_wrapper
            stand_in.lru_cache = lambda size: lambda made: wrap(made, size, False, tuple)
            sys.modules["functools"] = stand_in
            return __import__("_sqlite3")
        except Exception:  # an interpreter that is made otherwise
            sys.modules.pop("functools", None)
            return __import__("_sqlite3")
        finally:
            if sys.modules.get("functools") is stand_in:
                del sys.modules["functools"]

    sqlite3 = _import()
