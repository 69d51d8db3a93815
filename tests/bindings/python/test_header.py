# SPDX-License-Identifier: Apache-2.0
"""Tests that every function, struct and constant of asr.h and asr_build.h has its binding."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

import senone
from senone import _build_library, _config, _grammar, _library

API = Path(os.environ["SENONE_SOURCE"]) / "api"
HEADERS: dict[str, ModuleType] = {"asr.h": _library, "asr_build.h": _build_library}


def code_of(header: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", (API / header).read_text(), flags=re.S)


def structs_of(module: ModuleType) -> dict[str, type[ctypes.Structure]]:
    return {
        name: kind
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure
    }


def n_parameters(parameters: str) -> int:
    return 0 if parameters.strip() == "void" else parameters.count(",") + 1


def _member(declaration: str) -> str:
    """The name in a declaration: of a value, an array or a pointer to a function."""
    found = re.search(r"\(\*(\w+)\)|(\w+)(?:\[\d+\])?\s*$", declaration)
    assert found is not None, declaration
    return found[1] or found[2]


class Header(unittest.TestCase):
    def test_every_function_is_bound_with_its_parameters(self) -> None:
        for header, module in HEADERS.items():
            declared = dict(re.findall(r"ASR_API[^;]*?\b(asr_\w+)\(([^)]*)\);", code_of(header)))
            self.assertGreaterEqual(len(declared), {"asr.h": 32, "asr_build.h": 12}[header])
            bound = {name: len(parameters) for name, (_, parameters) in module.FUNCTIONS.items()}
            self.assertEqual({name: n_parameters(text) for name, text in declared.items()}, bound)

    def test_every_function_is_used(self) -> None:
        package = Path(senone.__file__).parent
        code = "".join(path.read_text() for path in package.glob("*.py"))
        functions = [name for module in HEADERS.values() for name in module.FUNCTIONS]
        unused = [name for name in functions if not re.search(rf"lib(\(\))?\.{name}\b", code)]
        # Streams get their events by callback; asr_result and asr_wait would only poll for them.
        self.assertEqual(unused, ["asr_result", "asr_wait"])

    def test_every_struct_has_the_fields_of_the_header(self) -> None:
        for header, module in HEADERS.items():
            declared = re.findall(r"typedef struct (asr_\w+) \{(.*?)\}", code_of(header), flags=re.S)
            structs = structs_of(module)
            self.assertEqual({name for name, _ in declared}, set(structs))
            for name, body in declared:
                fields = [_member(line) for line in body.split(";") if line.strip()]
                self.assertEqual(fields, [field[0] for field in structs[name]._fields_], name)

    def test_structs_have_the_compilers_layout(self) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("no C compiler")
        structs = {name: kind for module in HEADERS.values() for name, kind in structs_of(module).items()}
        lines = []
        for name, kind in structs.items():
            lines += [f'printf("%zu\\n", sizeof({name}));']
            lines += [f'printf("%zu\\n", offsetof({name}, {field[0]}));' for field in kind._fields_]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "layout.c"
            source.write_text(
                '#include "asr_build.h"\n#include <stdio.h>\nint main(void) {' + "\n".join(lines) + "}\n"
            )
            subprocess.run([compiler, f"-I{API}", str(source), "-o", f"{folder}/layout"], check=True)
            printed = subprocess.run([f"{folder}/layout"], check=True, capture_output=True, text=True).stdout
        expected = []
        for kind in structs.values():
            expected += [ctypes.sizeof(kind)] + [getattr(kind, field[0]).offset for field in kind._fields_]
        self.assertEqual([int(line) for line in printed.split()], expected)

    def test_every_constant_has_its_name(self) -> None:
        code = code_of("asr.h") + code_of("asr_build.h")
        enums = dict(re.findall(r"typedef enum (\w+) \{(.*?)\}", code, flags=re.S))

        def values(enum: str, prefix: str) -> dict[str, int]:
            return {name: int(value) for name, value in re.findall(rf"{prefix}(\w+) = (-?\d+)", enums[enum])}

        self.assertEqual(values("asr_status", "ASR_"), {status.name: int(status) for status in senone.Status})
        self.assertEqual(values("asr_event_kind", "ASR_EVENT_"), {kind.name: int(kind) for kind in senone.EventKind})
        flags = {name: int(value) for name, value in re.findall(r"#define ASR_FLAG_(\w+) (\d+)u", code)}
        self.assertEqual(flags, {flag.name: int(flag) for flag in senone.Flag})
        adaptations = {name.upper(): value for name, value in _config._ADAPTATIONS.items()}
        self.assertEqual(values("asr_adaptation", "ASR_ADAPTATION_"), adaptations)
        fusions = {name.upper(): value for name, value in _config._FUSIONS.items()}
        self.assertEqual(values("asr_fusion_rule", "ASR_FUSION_"), fusions)
        unknown = {f"{name.upper()}_UNKNOWN": value for name, value in _grammar._UNKNOWN.items()}
        self.assertEqual(values("asr_build_unknown", "ASR_BUILD_"), unknown)
        cases = {name.upper().replace(" ", "_"): value for name, value in _grammar._LETTER_CASE.items()}
        self.assertEqual(values("asr_build_case", "ASR_BUILD_CASE_"), cases)

    def test_kinds_of_later_versions_have_a_name(self) -> None:
        self.assertEqual((senone.EventKind(99).name, int(senone.EventKind(99))), ("UNKNOWN_99", 99))

    def test_every_status_has_an_exception(self) -> None:
        for status in senone.Status:
            if status != senone.Status.OK:
                self.assertEqual(senone._errors.error_of(int(status), "x").status, status)

    def test_public_names_have_docstrings(self) -> None:
        for name in senone.__all__:
            thing = getattr(senone, name)
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and callable(value):
                    self.assertTrue(value.__doc__, f"{name}.{member}")


if __name__ == "__main__":
    unittest.main()
