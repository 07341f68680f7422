"""Builds the package with nothing but the standard library (PEP 517), so that `pip install` fetches no build tool.

Equal sources give equal bytes: every file has the same time and order.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EPOCH = (1980, 1, 1, 0, 0, 0)


def _project() -> dict[str, str]:
    """The texts of [project]. They stand on a line each, so that no reader of TOML is needed, which Python 3.10 has none of."""
    _, _, project = (HERE / "pyproject.toml").read_text(encoding="utf-8").partition("[project]")
    return dict(re.findall(r'^([a-z-]+) = "(.*)"$', project, re.MULTILINE))


def _metadata(project: dict[str, str]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        "License: Apache-2.0",
        f"Requires-Python: {project['requires-python']}",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
        "",
        (HERE / project["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines)


def _sources() -> list[Path]:
    package = HERE / "src" / "interlock_client"
    return sorted(p for p in package.iterdir() if p.suffix == ".py" or p.name == "py.typed")


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Write a wheel and return its name."""
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    files = {f"interlock_client/{p.name}": p.read_bytes() for p in _sources()}
    files[f"{stem}.dist-info/METADATA"] = _metadata(project).encode()
    files[f"{stem}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: interlock\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = io.StringIO()
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.write(f"{name},sha256={digest},{len(data)}\n")
    record.write(f"{stem}.dist-info/RECORD,,\n")
    files[f"{stem}.dist-info/RECORD"] = record.getvalue().encode()
    wheel = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Write a source archive and return its name."""
    project = _project()
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    names = ["pyproject.toml", "backend.py", "README.md", *(str(p.relative_to(HERE)) for p in _sources())]
    contents = {f"{stem}/{name}": (HERE / name).read_bytes() for name in names}
    contents[f"{stem}/PKG-INFO"] = _metadata(project).encode()
    sdist = f"{stem}.tar.gz"
    with open(Path(sdist_directory) / sdist, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, data in contents.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return sdist
