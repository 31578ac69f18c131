"""Files that appear complete or not at all."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from espalier.errors import EspalierError, reason_of


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file that takes the place of `path` at the end, and has no name until then.

    Nothing of it stays if the process ends before, however that happens; but on file
    systems where every file has a name. What is no ordinary file, such as a terminal, is
    given itself.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        handle = _open_nameless(path.parent)
        if handle is None:
            with _named(path) as temporary:
                yield temporary
                temporary.replace(path)
            return
        try:
            source = f"/proc/self/fd/{handle}"
            yield Path(source)
            _publish(source, handle, path)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        raise EspalierError(f"cannot write '{path}': {reason_of(error)}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, or raise `EspalierError` and leave what was there."""
    with replacing(Path(path)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _open_nameless(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError as error:
        # What kernels and file systems say that do not know such files.
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR):
            return None
        raise


def _publish(source: str, handle: int, path: Path) -> None:
    # Without a folder that it does not need, Python links the link itself.
    with contextlib.suppress(FileExistsError):
        os.link(source, path, src_dir_fd=handle, follow_symlinks=True)
        return
    # Only a rename replaces a file.
    with _named(path) as temporary:
        temporary.unlink()
        os.link(source, temporary, src_dir_fd=handle, follow_symlinks=True)
        temporary.replace(path)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[Path]:
    """Give a new file beside `path`, which is removed if it is still there at the end."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    umask = os.umask(0)
    os.umask(umask)
    os.fchmod(handle, 0o666 & ~umask)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
