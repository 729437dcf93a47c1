"""The shipped scenarios: found by name, from a wheel and from a working copy alike.

Rules: a name is only a name: it cannot lead out of the library, and no symbolic link in it is followed. Must not know:
what is in the files.
"""

import re
from pathlib import Path

from chaosproxy.scenario.trouble import nearest

FEW = 8
"""So many names are listed by a message."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
"""No file system refuses it as too long."""
_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "_scenarios", _PACKAGE.parent / "scenarios")
"""Inside the package (a wheel), beside it (a working copy)."""


def root() -> Path | None:
    """The directory of the shipped scenarios, None where none came along."""
    return next((place for place in _PLACES if place.is_dir()), None)


def shipped() -> dict[str, Path]:
    """Every shipped scenario by its name, themes in order: `scenarios/THEME/NAME.yaml`, or without a theme."""
    library = root()
    if library is None:
        return {}
    files = sorted(path for pattern in ("*.yaml", "*/*.yaml") for path in library.glob(pattern))
    return {
        path.stem: path
        for path in files
        if _NAME.fullmatch(path.stem) and path.is_file() and not (path.is_symlink() or path.parent.is_symlink())
    }


def theme(path: Path) -> str:
    """The theme of a shipped file: its directory, "" for none."""
    library = root()
    return "" if library is None or path.parent == library else path.parent.name


def find(name_or_path: str | Path) -> Path:
    """The file meant: a path, or a shipped scenario by its name where no file is called so. LookupError if a name is unknown
    and no such file is there; whether a path can be read is for the reader to find out."""
    path, name = Path(name_or_path), str(name_or_path)
    if _NAME.fullmatch(name) is None or path.is_file():
        return path
    known = shipped()
    if name in known:
        return known[name]
    if path.exists() or path.suffix in {".yaml", ".yml", ".json"}:
        return path
    raise LookupError(f"no file and {unknown(name)}")


def unknown(name: str) -> str:
    """What to say of a name that no shipped scenario has: those that begin with it or have it as a word, or the nearest,
    and what lists them all."""
    known = shipped()
    kin = [one for one in known if one.startswith(f"{name}-")] or [one for one in known if name in one.split("-")]
    if kin:
        others = f" and {len(kin) - FEW} others" if len(kin) > FEW else ""
        return f"no shipped scenario is called {name!r}; there are {', '.join(kin[:FEW])}{others}"
    help_ = "`chaosproxy scenarios` lists them" if known else "none is installed here"
    return f"no shipped scenario is called {name!r};{nearest(name, known)} {help_}"
