"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` in the end: nobody ever sees half a file.

    Folders on the way are made. After an error, Ctrl-C too, nothing of the new file is left, and the old one stays. A link
    stays one; what is no file, such as a pipe, is written to as it comes.
    """
    path = Path(path).resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        part.chmod(0o666 & ~_umask())  # as a file that is made in the usual way
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, UTF-8, whole or not at all."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _umask() -> int:
    """Return the process's mask of file modes, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
