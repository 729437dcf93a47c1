"""Everything of `run` can be set by the environment, and the health check asks where such a run listens."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import click
import pytest

from chaosproxy.cli.run import command
from chaosproxy.cli.speed import SpeedType
from tests.ports import free_port


def healthy(*arguments: str, **environment: str) -> tuple[int, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHAOSPROXY_")}
    argv = [sys.executable, "-m", "chaosproxy", "healthcheck", *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False, env={**kept, **environment})
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def parsed(monkeypatch, **environment: str) -> click.Context:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return command.make_context("run", [], None)


# `faults` is read at once, and no value but a file's name will do: `test_own_faults` has it.
@pytest.mark.parametrize("parameter", [one for one in command.params if one.name != "faults"], ids=lambda one: one.name)
def test_every_parameter_of_run_has_its_variable(parameter, monkeypatch):
    values = {
        click.IntRange: "3",
        click.types.IntParamType: "3",
        SpeedType: "2.5",
        click.types.BoolParamType: "1",
    }
    value = "9s" if parameter.name in {"grace", "wait_upstream"} else values.get(type(parameter.type), "some")
    name = "SCENARIO" if parameter.name == "scenarios" else parameter.name.upper()
    context = parsed(monkeypatch, **{f"CHAOSPROXY_{name}": value})
    assert context.get_parameter_source(parameter.name) is click.core.ParameterSource.ENVIRONMENT
    seen = context.params[parameter.name]
    expected = {"9s": 9.0, "3": 3, "2.5": 2.5, "1": True}.get(value, value)
    assert str(seen if not isinstance(seen, tuple) else seen[0]) == str(expected)


def test_several_values_stand_with_blanks_between_them(monkeypatch):
    context = parsed(monkeypatch, CHAOSPROXY_SCENARIO="buffer-4k  other.yaml", CHAOSPROXY_UPSTREAM="http://a http://b")
    assert context.params["scenarios"] == ("buffer-4k", "other.yaml")
    assert context.params["upstream"] == ("http://a", "http://b")


def test_a_run_that_is_told_everything_by_its_environment(tmp_path):
    port = free_port()
    scenario = tmp_path / "s.yaml"
    scenario.write_text("version: 1\nfaults: [{respond: {status: 418}}]\n")
    environment = {
        "CHAOSPROXY_UPSTREAM": "http://127.0.0.1:1",
        "CHAOSPROXY_LISTEN": f"0.0.0.0:{port}",
        "CHAOSPROXY_SCENARIO": str(scenario),
        "CHAOSPROXY_READY_FILE": str(tmp_path / "ready"),
        "CHAOSPROXY_JSON": "1",
        "CHAOSPROXY_SEED": "11",
    }
    assert healthy(**environment)[0] == 1, "not yet"
    argv = [sys.executable, "-m", "chaosproxy", "run"]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as running:
        try:
            deadline = time.monotonic() + 30
            while not (tmp_path / "ready").exists():
                assert running.poll() is None, running.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.01)
            assert healthy(**environment) == (0, "")
            assert healthy(f"http://127.0.0.1:{port}") == (0, "")
            assert healthy(f"127.0.0.1:{port}", CHAOSPROXY_LISTEN="127.0.0.1:1") == (0, "")
            with pytest.raises(urllib.error.HTTPError) as error:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30)
            error.value.close()
            assert error.value.code == 418
        finally:
            running.terminate()
            out, _ = running.communicate(timeout=30)
    assert running.returncode == 0
    assert json.loads(out)["seed"] == 11
    status, said = healthy(**environment)
    assert status == 1
    assert str(port) in said


@pytest.mark.parametrize("listen", ["nowhere", "::1:80"])
def test_a_health_check_of_no_address_is_wrong_usage(listen):
    status, said = healthy(CHAOSPROXY_LISTEN=listen)
    assert status == 2
    assert listen in said
