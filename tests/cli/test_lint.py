"""`lint`: what it prints and the exit status."""

import pytest
from click.testing import CliRunner

from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.cli import lint


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def lint_files(**files):
        names = []
        for name, text in files.items():
            names.append(f"{name}.yaml")
            if text is not None:
                (tmp_path / names[-1]).write_text(text)
        result = CliRunner().invoke(lint.command, names)
        assert result.stderr == ""
        return result.exit_code, result.stdout

    return lint_files


def test_a_good_file_says_nothing(run):
    assert run(good="version: 1\nrules: [{match: {path: /a}}]\n") == (0, "")


def test_every_problem_is_shown_with_its_line_and_a_caret(run):
    status, text = run(bad="version: 1\nseed: x\nrules:\n- match: {pth: /a}\n")
    assert status == 1
    assert text == (
        "bad.yaml:2:7: seed: found 'x'; expected a whole number\n"
        "    seed: x\n"
        "          ^\n"
        "bad.yaml:4:11: unknown key 'pth'; did you mean 'path'? allowed: method, path, query, headers, json, protocol\n"
        "    - match: {pth: /a}\n"
        "              ^\n"
    )


def test_each_file_is_judged_by_itself(run):
    status, text = run(one="version: 1\nseed: 1\n", two="version: 1\nseed: 2\n")
    assert (status, text) == (0, "")


def test_a_file_that_cannot_be_read_is_worse_than_one_that_is_wrong(run):
    status, text = run(bad="version: 2\n", absent=None, good="version: 1\n")
    assert status == 2
    assert "bad.yaml:1:10: version" in text
    assert "absent.yaml: cannot be read: No such file" in text


def test_a_warning_is_shown_and_is_no_error(run, monkeypatch):
    monkeypatch.setitem(REGISTRY, "timeout", REGISTRY.get("timeout") or _timeout())
    status, text = run(warned="version: 1\nhops:\n- faults: [timeout: {idle: 30s}]\n- faults: [timeout: {idle: 60s}]\n")
    assert status == 0
    assert text.startswith("warned.yaml:4:28: warning: idle: this outer hop waits 1m")


def test_no_file_is_wrong_usage():
    assert CliRunner().invoke(lint.command, []).exit_code == 2


def test_a_name_that_looks_like_yaml_is_a_file_name(run):
    assert CliRunner().invoke(lint.command, ["version: 1"]).exit_code == 2


def _timeout():
    from dataclasses import make_dataclass  # noqa: PLC0415 -- only until a real one is registered

    from chaosproxy.model.units import Duration  # noqa: PLC0415

    return make_dataclass(
        "Timeout",
        [("idle", Duration, 1.0)],
        bases=(FaultSpec,),
        namespace={"name": "timeout"},
        frozen=True,
        kw_only=True,
    )
