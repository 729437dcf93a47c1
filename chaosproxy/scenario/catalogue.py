"""Which faults there are: the built-in ones, those of installed packages, those of a file that somebody names.

A package offers its fault by an entry point of the group `chaosproxy.faults`: the fault's YAML name, and where it is:

    [project.entry-points."chaosproxy.faults"]
    echo_gap = "my_package.echo_gap"

Rules: a package is imported when one of its faults is used, or when all are listed; a scenario never names a file of
code. Must not know: any particular fault, how a scenario is read.
"""

import sys
import traceback
from collections.abc import Iterable
from importlib import util
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import chaosproxy.faults  # noqa: F401 -- its import registers the built-in faults
from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.errors import UsageError

GROUP = "chaosproxy.faults"


def names() -> list[str]:
    """Every name that a scenario may use, without importing what has it."""
    return sorted({*REGISTRY, *_offered()})


def spec_of(name: str) -> type[FaultSpec] | None:
    """The fault called so, imported where need be; None if there is none. UsageError if its package cannot be used."""
    if name not in REGISTRY and (offer := _offered().get(name)) is not None:
        _import(offer)
    return REGISTRY.get(name)


def every() -> list[type[FaultSpec]]:
    """All of them by name, all imported. UsageError as in `spec_of`."""
    return [spec for name in names() if (spec := spec_of(name)) is not None]


def load_file(path: Path) -> list[str]:
    """Import a Python file and answer which faults are known by it. UsageError if it is none, fails, or has none."""
    name = f"chaosproxy_fault_file_{path.stem}"
    found = util.spec_from_file_location(name, path) if path.suffix == ".py" else None
    if found is None or found.loader is None:
        raise UsageError(f"{path}: a file of faults is a Python file, and its name ends in .py")
    before = set(REGISTRY)
    module = util.module_from_spec(found)
    sys.modules[name] = module  # its dataclasses look themselves up there
    try:
        found.loader.exec_module(module)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except Exception as error:
        raise UsageError(f"{_where(error, [str(path)])}: {_said(error)}") from error
    has = [name for name, spec in REGISTRY.items() if name not in before or spec.__module__ == module.__name__]
    if not has:
        raise UsageError(f"{path}: has no fault; one is a class with @register above @dataclass")
    return has


def _offered() -> dict[str, EntryPoint]:
    return {offer.name: offer for offer in entry_points(group=GROUP)}


def _import(offer: EntryPoint) -> None:
    of = f"fault {offer.name!r} of the package {offer.dist.name if offer.dist else '?'}"
    try:
        offer.load()
    except Exception as error:
        raise UsageError(f"{of} cannot be loaded ({offer.value}): {_said(error)}") from error
    if offer.name not in REGISTRY:
        raise UsageError(f"{of}: {offer.value} has no fault of that name; its entry point is called as the fault is")


def _said(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg}"
    return f"{type(error).__name__}: {error}"


def _where(error: Exception, files: Iterable[str]) -> str:
    """`FILE:LINE` of the last line in one of the files that led to it."""
    if isinstance(error, SyntaxError) and error.filename:  # of a NUL in the file nothing says where it is
        return f"{error.filename}:{error.lineno}:{error.offset}"
    steps = [step for step in traceback.extract_tb(error.__traceback__) if step.filename in set(files)]
    return f"{steps[-1].filename}:{steps[-1].lineno}" if steps else next(iter(files))
