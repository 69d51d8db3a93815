# SPDX-License-Identifier: Apache-2.0
"""Adds the licences of the libraries that auditwheel put into a wheel: python add_licences.py UNPACKED_WHEEL

`./dev wheel` runs it. They are those of Debian packages: copyright files, the licences these name, and a list with versions and sources go to
*.dist-info/licenses/bundled. Fails if a library has none.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

COMMON = Path("/usr/share/common-licenses")
HEAD = """\
The libraries in senone.libs are works of others under licences of their own, which are beside this file. They are shared
libraries as Debian built them, but for their names and run paths. Anybody may exchange them, libsoxr (LGPL) above all: put
another build in the file's place, under its name. Sources: apt-get source PACKAGE=VERSION, or
https://snapshot.debian.org/package/PACKAGE/VERSION/.

"""


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package_of(library: str) -> str:
    """The Debian package of a system library, named like libsoxr.so.0.1.1."""
    soname = re.sub(r"(\.so\.\d+).*", r"\1", library)
    lines = [line for line in output("/sbin/ldconfig", "-p").splitlines() if line.split()[:1] == [soname]]
    if not lines:
        sys.exit(f"add_licences: {library}: the system has no {soname}")
    path = Path(lines[0].split(" => ")[1]).resolve()
    for name in (str(path), str(path).removeprefix("/usr")):
        try:
            return output("dpkg", "-S", name).split(":")[0]
        except subprocess.CalledProcessError:
            pass
    sys.exit(f"add_licences: {path} belongs to no package; its licence is not known")


def main() -> None:
    wheel = Path(sys.argv[1])
    (info,) = wheel.glob("*.dist-info")
    folder = info / "licenses" / "bundled"
    folder.mkdir(parents=True)
    lines = []
    for library in sorted((wheel / "senone.libs").glob("*.so*")):
        package = package_of(re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.name))
        source, version = output("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package).split()
        text = Path(f"/usr/share/doc/{package}/copyright").read_text()
        (folder / f"{package}.copyright").write_text(text)
        for licence in {name.rstrip(".") for name in re.findall(rf"{COMMON}/([\w.+-]+)", text)}:
            shutil.copyfile(COMMON / licence, folder / licence)
        lines.append(f"{library.name}: {package}.copyright; source package {source} {version}\n")
    if not lines:
        sys.exit(f"add_licences: {wheel}/senone.libs has no libraries")
    (folder / "BUNDLED").write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main()
