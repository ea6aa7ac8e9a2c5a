"""The `kernel` and `entry` decorators: compile flags and the cache of compiled code.

Numba's cache does not see edits in another file, so it is kept in a folder named by the hash of all our sources:
after any edit everything is compiled anew, and nothing stale is ever run. `STINGLAB_CACHE_DIR` moves the cache.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("tabletop", "sting_env", "stingy_env", "agents", "analysis")

COMPILED = not numba.config.DISABLE_JIT
if not COMPILED:
    # Kernels count on unsigned arithmetic that wraps; interpreted numpy scalars warn when it does.
    np.seterr(over="ignore")


def source_digest() -> str:
    """Return the hash of every Python source that holds kernels, and of the compiler's version."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return the folder of the compiled kernels of exactly these sources, made when missing."""
    home = os.environ.get("STINGLAB_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    base = Path(home) if home else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stinglab"
    for candidate in (base, Path(tempfile.gettempdir()) / "stinglab"):
        try:
            folder = candidate / source_digest()
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise OSError(f"no folder to keep compiled kernels in: set STINGLAB_CACHE_DIR (tried {base})")


_CACHE = str(cache_directory()) if COMPILED else ""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` to be called from other kernels only: without Python, without the interpreter lock.

    It becomes part of the entry points that call it (`entry`, `bind`) and is cached with them.
    """
    if not COMPILED:
        return function
    return numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile `function` to be called from Python, cached on disk."""
    if not COMPILED:
        return function
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _CACHE
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = before


def bind(loop: Callable[..., Any], owner: str, **kernels: Any) -> Any:
    """Compile a loop of `tabletop.loops` with its free names bound to one game's kernels.

    A loop is written once for all games. It is compiled for each of them as a function of its own name, so that the
    cache keeps them apart; passing kernels as arguments could not be cached.
    """
    name = f"{loop.__name__}__{owner}"
    unknown = set(kernels) - set(loop.__globals__)
    if unknown:
        raise TypeError(f"{loop.__name__} knows no kernel called {', '.join(sorted(unknown))}")
    bound = types.FunctionType(loop.__code__, {**loop.__globals__, **kernels}, name, loop.__defaults__)
    bound.__qualname__ = name
    bound.__module__ = loop.__module__
    return entry(bound)
