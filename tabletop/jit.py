"""The `kernel` and `entry` decorators: compile flags and the cache of compiled code.

Numba's cache does not see edits in another file, so an entry point is kept in a folder named by the hash of its module
and of all that it imports from packages with kernels, as they were when they were imported: after an edit just what
depends on it is compiled anew, and nothing stale is ever run. `STINGLAB_CACHE_DIR` moves the cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import tempfile
import types
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic

COMPILED = not numba.config.DISABLE_JIT
if not COMPILED:
    # Kernels count on unsigned arithmetic that wraps; interpreted numpy scalars warn when it does.
    np.seterr(over="ignore")

IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE)


@cache
def _source(module: str) -> Path | None:
    """Return the file of a module, None if it has none that can be read."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError):
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)


@cache
def _text(module: str) -> str:
    """Return the source of a module as it was when first asked for, which is when its kernels are made (`_remember`)."""
    path = _source(module)
    return path.read_text(encoding="utf-8") if path is not None else ""


def _imports(module: str) -> Iterator[str]:
    """Yield the modules of packages with kernels that a module imports directly."""
    for package, names, plain in IMPORT.findall(_text(module)):
        base = package or plain
        if base.split(".")[0] in _kernel_packages:
            yield base
            yield from (f"{base}.{name}" for name in re.findall(r"\w+", names) if _source(f"{base}.{name}"))


def _closure(modules: Iterable[str]) -> set[str]:
    """Return these modules and all that they import from packages with kernels."""
    seen: set[str] = set()
    todo = [*modules, __name__]
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += _imports(module)
    return seen


_kernel_packages = {__name__.split(".")[0]}


@cache
def _remember(module: str) -> None:
    """Read now, while a module is imported, the sources that its kernels will be compiled from.

    A file edited between import and first use, which may be minutes later, would else be taken for what was compiled.
    """
    _kernel_packages.add(module.split(".")[0])
    for name in _closure([module]):
        _text(name)


def source_digest(modules: Iterable[str]) -> str:
    """Return the hash of these modules' sources, of all they import from packages with kernels, and of the compiler."""
    modules = list(modules)
    for module in modules:
        _remember(module)
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for module in sorted(_closure(modules)):
        path = _source(module)
        if path is not None and path.name != "__init__.py":
            digest.update(module.encode())
            digest.update(_text(module).encode())
    return digest.hexdigest()[:16]


def cache_directory(modules: Iterable[str]) -> Path:
    """Return the folder of compiled code of exactly these sources, made when missing."""
    home = os.environ.get("STINGLAB_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    base = Path(home) if home else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stinglab"
    name = source_digest(modules)
    for candidate in (base, Path(tempfile.gettempdir()) / "stinglab"):
        try:
            folder = candidate / name
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise OSError(f"no folder to keep compiled kernels in: set STINGLAB_CACHE_DIR (tried {base})")


class _KernelLibrary(JITCodeLibrary):
    """Code that is only ever linked into that of entry points: it is optimized and made native there, not here too."""

    @property
    def codegen(self) -> Any:
        """The library itself, of which numba asks `set_env` only."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Do nothing: there is no native code that could need its environment."""

    def _optimize_final_module(self) -> None:
        """Leave it to the entry points."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no native function."""
        self._ensure_finalized()
        return 0


class _KernelCompiler(Compiler):
    """Numba's compiler, with a library of that kind."""

    def __init__(self, typing: Any, target: Any, _: Any, *rest: Any) -> None:
        library = _KernelLibrary(target.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typing, target, library, *rest)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` to be called from other kernels only: without Python, without the interpreter lock.

    It becomes part of the entry points that call it (`entry`, `bind`) and is cached with them. Numba would compile it anew
    for every width of integer and for every constant that it is called with; here all of them are int64 (uint64 and
    floats stay). It would also optimize and make native each kernel by itself and again in all that call it; here that
    is done in the entry points alone. Both together make a first start 0.6 times as long.
    """
    if not COMPILED:
        return function
    _remember(function.__module__)
    compiled = numba.njit(
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_KernelCompiler,
    )(function)
    find = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: find([*map(_widest, args)], {k: _widest(v) for k, v in kws.items()})
    return compiled


def _widest(kind: Any) -> Any:
    """Return the type that a kernel's argument is compiled for."""
    kind = numba.types.unliteral(kind)
    small = isinstance(kind, numba.types.Integer) and kind.bitwidth < 64
    return numba.types.int64 if small else kind


def entry(function: Callable[..., Any], modules: Iterable[str] = ()) -> Any:
    """Compile `function` to be called from Python, cached on disk.

    modules: where the kernels come from that it calls, beside those its own module imports.
    """
    if not COMPILED:
        return function
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory([function.__module__, *modules]))
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = before


def make_scratch(shape: int | tuple[int, ...], dtype: type = np.float64) -> Any:
    """Return a kernel that returns an array to work in, whatever it holds, until its caller returns.

    It lies on the stack: to get an array from `np.empty` and give it back takes some 50 nanoseconds.
    """
    sizes = (shape,) if isinstance(shape, int) else shape
    if not COMPILED:
        return lambda: np.empty(sizes, dtype)
    kind = numba.types.Array(numba.from_dtype(np.dtype(dtype)), len(sizes), "C")
    width = np.dtype(dtype).itemsize
    strides = [width * int(np.prod(sizes[axis + 1 :])) for axis in range(len(sizes))]

    @intrinsic
    def scratch(_: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            def numbers(some: Iterable[int]) -> Any:
                return cgutils.pack_array(builder, [context.get_constant(numba.types.intp, number) for number in some])

            array = context.make_array(kind)(context, builder)
            context.populate_array(
                array,
                data=cgutils.alloca_once(builder, context.get_data_type(kind.dtype), size=int(np.prod(sizes))),
                shape=numbers(sizes),
                strides=numbers(strides),
                itemsize=context.get_constant(numba.types.intp, width),
                meminfo=None,
            )
            return array._getvalue()

        return kind(), generate

    return scratch


def bind(loop: Callable[..., Any], owner: str, **kernels: Any) -> Any:
    """Compile a loop of `tabletop.loops` with its free names bound to one game's kernels.

    A loop is written once for all games. It is compiled for each of them as a function of its own name, so that the
    cache keeps them apart; passing kernels as arguments could not be cached.
    """
    bound = _bound(loop, owner, kernels)
    return entry(bound, bound.modules)


def bind_kernel(loop: Callable[..., Any], owner: str, **kernels: Any) -> Any:
    """As `bind`, to be called from other kernels only."""
    return kernel(_bound(loop, owner, kernels))


def _bound(loop: Callable[..., Any], owner: str, kernels: dict[str, Any]) -> Any:
    """Return a loop as a function of its own; its `modules` are those its kernels come from."""
    name = f"{loop.__name__}__{owner}"
    unknown = set(kernels) - set(loop.__globals__)
    if unknown:
        raise TypeError(f"{loop.__name__} knows no kernel called {', '.join(sorted(unknown))}")
    bound: Any = types.FunctionType(loop.__code__, {**loop.__globals__, **kernels}, name, loop.__defaults__)
    bound.__qualname__ = name
    bound.__module__ = loop.__module__
    bound.modules = sorted({module for k in kernels.values() for module in _modules(k)})
    return bound


def _modules(kernel: Any) -> list[str]:
    """Return the modules that a kernel, bound ones too, comes from."""
    return [kernel.__module__, *getattr(getattr(kernel, "py_func", kernel), "modules", ())]
