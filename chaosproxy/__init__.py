"""A programmable buffering and chaos proxy for streaming clients.

The public names; everything else is private by declaration. What needs Trio is loaded when it is first asked for, so
that `import chaosproxy` costs nothing to speak of. PYTEST_DONT_REWRITE: whoever imports it before pytest starts is not
warned for that.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from chaosproxy.errors import Error, ScenarioError

if TYPE_CHECKING:
    from chaosproxy.embedded.opened import OpenProxy, open_proxy
    from chaosproxy.embedded.served import ServedProxy, serve
    from chaosproxy.journal.record import ExchangeRecord
    from chaosproxy.judging.check import Finding, Verdict, Verdicts

__all__ = [
    "Error",
    "ExchangeRecord",
    "Finding",
    "OpenProxy",
    "ScenarioError",
    "ServedProxy",
    "Verdict",
    "Verdicts",
    "open_proxy",
    "serve",
]

_LATER = {
    "ExchangeRecord": "chaosproxy.journal.record",
    "Finding": "chaosproxy.judging.check",
    "OpenProxy": "chaosproxy.embedded.opened",
    "ServedProxy": "chaosproxy.embedded.served",
    "Verdict": "chaosproxy.judging.check",
    "Verdicts": "chaosproxy.judging.check",
    "open_proxy": "chaosproxy.embedded.opened",
    "serve": "chaosproxy.embedded.served",
}
_OF_A_PROXY = {
    "url",
    "urls",
    "ca",
    "exchanges",
    "last",
    "wait",
    "settle",
    "use",
    "using",
    "origin",
    "verdict",
    "timeline",
}
"""What somebody wants of the fixture who has the module, which is called the same."""


def __getattr__(name: str) -> object:
    if name == "check":
        return import_module("chaosproxy.check")
    if name not in _LATER:
        hint = "; a test takes the proxy as its argument `chaosproxy`" if name in _OF_A_PROXY else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    value: object = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
