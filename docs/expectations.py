"""`make docs`: fills in what is made on the page of expectations, `docs/expectations.md`.

Behind `<!-- check: NAME -->` comes what the check says of itself, up to `<!-- /check -->`; behind `<!-- judge: CLIENT -->`
the verdict on the scenario above it, judged anew each time (`docs/judged.py` has the clients). All else is by hand.
"""

import inspect
import re
from pathlib import Path

import chaosproxy.judging.judge  # noqa: F401 -- its import registers the checks
from chaosproxy.judging.check import CHECKS
from chaosproxy.scenario.reference import parameters
from chaosproxy.scenario.shapes import key_of
from docs.judged import judged

PAGE = Path(__file__).parent / "expectations.md"
_CHECK = re.compile(r"<!-- check: (.*?) -->\n.*?<!-- /check -->", re.DOTALL)
_SCENARIO = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_JUDGE = re.compile(r"<!-- judge: (.*?) -->\n(?:```text\n.*?```\n)?", re.DOTALL)
_REPEATED = re.compile(r"\s*Default:? `?[^\s,;]+`?\.$")


def page(now: str) -> str:
    """The page, built on what is on it now."""
    text = _CHECK.sub(lambda found: f"<!-- check: {found[1]} -->\n{_described(found[1])}\n<!-- /check -->", now)
    parts, done = [], 0
    for found in _JUDGE.finditer(text):
        scenario = _SCENARIO.findall(text[: found.start()])[-1]
        parts += [
            text[done : found.start()],
            f"<!-- judge: {found[1]} -->\n```text\n{judged(scenario, found[1])}\n```\n",
        ]
        done = found.end()
    return "".join(parts) + text[done:]


def _described(name: str) -> str:
    """What a check is, its keys, what a bare value is."""
    check = CHECKS[name]
    text = [" ".join(inspect.cleandoc(check.__doc__ or "").split())]
    keys = parameters(check, common=())
    if keys:
        lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
        for one in keys:
            default = "required" if one.default is None else f"`{one.default}`" if one.default else ""
            words = " ".join((_REPEATED.sub("", one.words) if default else one.words).split())
            cells = (f"`{one.key}`", one.form, default, words)
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |".replace("|  |", "| |"))
        text.append("\n".join(lines))
        if check.main is not None:
            text.append(f"A bare value is `{key_of(check.main)}`.")
    text.append(f"Nothing to judge, and so not good: {check.nothing}.")
    return "\n\n".join(text)
