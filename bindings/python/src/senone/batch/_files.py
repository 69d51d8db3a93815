# SPDX-License-Identifier: Apache-2.0
"""Files of an output, used through a descriptor of their folder. Somebody else may own the folder and exchange what is in it at
any moment, so the path is resolved once, and nothing is created or replaced through a symbolic link afterwards.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ._common import Failure, printable

MOST_LINKS = 40  # most symbolic links followed in a chain, as on Linux


class Folder:
    """A folder that is held open. within: the folder in which a relative path begins; None: the current one. flags: more of
    `os.open`. Raises OSError."""

    def __init__(self, path: str, within: Folder | None = None, flags: int = 0) -> None:
        start = None if within is None else within._descriptor
        self._descriptor: int = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | flags, dir_fd=start)

    def close(self) -> None:
        """Closes it; nothing else may be called afterwards."""
        os.close(self._descriptor)

    def names(self) -> list[str]:
        """Returns the sorted names of the entries."""
        readable = self.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            return sorted(os.listdir(readable))
        finally:
            os.close(readable)

    def is_proc(self) -> bool:
        """Returns True in /proc, whose links lead to open files: their texts are no paths."""
        try:
            return os.fstat(self._descriptor).st_dev == os.stat("/proc/self").st_dev
        except FileNotFoundError:
            return False

    def link(self, name: str) -> str:
        """Returns where a symbolic link leads to."""
        return os.readlink(name, dir_fd=self._descriptor)

    def status(self, name: str) -> os.stat_result:
        """Returns the status of an entry, without following a symbolic link."""
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Opens an entry that is no symbolic link, and returns its descriptor. mode: of a new file, before the umask."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self._descriptor)

    def folder(self, name: str) -> Folder:
        """Opens a folder in it, which is made if it does not exist and is no symbolic link."""
        try:
            os.mkdir(name, dir_fd=self._descriptor)
        except FileExistsError:
            pass
        if not stat.S_ISDIR(self.status(name).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return Folder(name, self, os.O_NOFOLLOW)

    def create(self, name: str, older: str) -> int:
        """Creates a file to replace `older`, which need not exist. The new one opens it to nobody else: it has the permissions
        that the umask leaves and the older file has."""
        try:
            mode = self.status(older).st_mode & 0o666  # from the beginning: whoever could open it would read all of it
        except FileNotFoundError:
            mode = 0o666
        return self.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, mode)

    def rename(self, name: str, new: str) -> None:
        """Renames an entry; it replaces an older one."""
        os.rename(name, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Removes an entry if it exists."""
        try:
            os.unlink(name, dir_fd=self._descriptor)
        except FileNotFoundError:
            pass


def resolve(path: Path) -> tuple[Folder, str]:
    """Returns the folder of an output, held open, and its name there, which is no symbolic link. Links of root and of this user
    are followed; the owner of another one would choose the file that is written. Raises OSError and Failure."""
    place = os.fspath(path)
    folder: Folder | None = None
    try:
        for _ in range(MOST_LINKS + 1):
            parent, name = os.path.split(place)
            outer, folder = folder, Folder(parent or ".", folder)
            if outer is not None:
                outer.close()
            try:
                status = folder.status(name)
            except FileNotFoundError:
                return folder, name
            if not stat.S_ISLNK(status.st_mode):
                return folder, name
            if status.st_uid not in (0, os.geteuid()):
                raise Failure(
                    f"{printable(str(path))}: is a symbolic link of user {status.st_uid}, which is not followed; "
                    "name the file that it leads to"
                )
            if folder.is_proc():
                raise Failure(f"{printable(str(path))}: leads to a descriptor of a process; results need a file, to go on from")
            place = folder.link(name)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except (OSError, Failure):
        if folder is not None:
            folder.close()
        raise
