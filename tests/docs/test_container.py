"""The container files: what they name exists, the image can be built from what they copy, and its entry point, health
check and stop signal work in a process that has exactly their environment. (No container engine is needed.)"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from chaosproxy.cli.run import command as run
from chaosproxy.scenario.library import find
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
VARIABLES = {f"CHAOSPROXY_{parameter.name.upper()}" for parameter in run.params} | {"CHAOSPROXY_SCENARIO"}
BIN = Path(sys.executable).parent


def instructions() -> list[tuple[str, str]]:
    """(word, arguments) of each instruction, as Docker reads them: comments out, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def last(word: str) -> str:
    return [arguments for name, arguments in instructions() if name == word][-1]


def compose() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def environment(**more: str) -> dict[str, str]:
    """The image's, with this machine's programs."""
    return {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        **dict(pair.split("=", 1) for pair in last("ENV").split()),
        **more,
    }


def wait_healthy(words: list[str], env: dict[str, str], process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 30
    while subprocess.run(words, env=env, capture_output=True, check=False, timeout=30).returncode:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_variables_that_are_named_are_those_that_run_knows():
    for name in ("Dockerfile", "compose.yaml"):
        named = set(re.findall(r"CHAOSPROXY_[A-Z_]+", (ROOT / name).read_text()))
        assert named
        assert named <= VARIABLES, name


def copied() -> list[str]:
    return [
        word
        for name, arguments in instructions()
        if name == "COPY" and not arguments.startswith("--from")
        for word in arguments.split()[:-1]
    ]


def test_what_the_image_copies_reaches_the_builder():
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    kept = {line[1:] for line in lines if line.startswith("!")}
    assert kept == set(copied())
    assert [name for name in kept if not (ROOT / name).exists()] == []


@pytest.mark.timeout(300)
def test_the_image_can_be_built_from_what_it_copies(tmp_path):
    hidden = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("**/")]
    ignored = shutil.ignore_patterns(*(line.removeprefix("**/") for line in hidden))
    for name in copied():
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / "src" / name, ignore=ignored)
        else:
            (tmp_path / "src").mkdir(exist_ok=True)
            shutil.copy(source, tmp_path / "src" / name)
    argv = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    built = subprocess.run([*argv, str(tmp_path / "src")], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(fnmatch(name, "chaosproxy/_scenarios/*/buffer-4k.yaml") for name in names)
    extras = re.search(r'"\.\[(.*)\]"', next(text for word, text in instructions() if word == "RUN"))
    assert extras
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras[1].split(",")) <= project["optional-dependencies"].keys()


def test_it_does_not_run_as_root():
    user, _, group = last("USER").partition(":")
    assert int(user) > 0
    assert int(group) > 0


def test_entry_point_health_check_and_stop_signal(tmp_path):
    words = json.loads(last("ENTRYPOINT")) + json.loads(last("CMD"))
    check = json.loads(last("HEALTHCHECK").partition(" CMD ")[2])
    assert environment()["CHAOSPROXY_LISTEN"] == f"0.0.0.0:{last('EXPOSE')}"
    port = free_port()  # the image has a network of its own, this machine has not
    env = environment(CHAOSPROXY_LISTEN=f"0.0.0.0:{port}", CHAOSPROXY_UPSTREAM="http://127.0.0.1:1")
    before = subprocess.run(check, env=env, capture_output=True, text=True, check=False, timeout=30)
    assert (before.returncode, before.stdout) == (1, "")
    with subprocess.Popen(words, env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        try:
            wait_healthy(check, env, running)
        finally:
            running.send_signal(getattr(signal, last("STOPSIGNAL")))
            _, said = running.communicate(timeout=30)
    assert running.returncode == 0
    assert f"listening on http://0.0.0.0:{port}" in said


@pytest.mark.timeout(300)
def test_compose_puts_the_proxy_in_front_of_a_service_and_a_stream_passes():
    services = compose()["services"]
    ports = {name: free_port() for name in services}

    def expanded(text: str) -> str:
        """As compose and its network would: defaults, service names, ports."""
        text = re.sub(r"\$\{\w+:-(.*?)\}", r"\1", text)
        text = re.sub(r"http://service:8000", f"http://127.0.0.1:{ports['service']}", text)
        return re.sub(r"(127\.0\.0\.1|0\.0\.0\.0):8000", rf"127.0.0.1:{ports['service']}", text)

    service, proxy = services["service"], services["chaosproxy"]
    variables = {name: expanded(value) for name, value in proxy["environment"].items()}
    assert find(variables["CHAOSPROXY_SCENARIO"]).exists()
    assert proxy["ports"] == ["127.0.0.1:8666:8666"], "published for this machine only"
    env = environment()
    entry = json.loads(last("ENTRYPOINT"))
    check = [expanded(word) for word in service["healthcheck"]["test"][1:]]
    origin = subprocess.Popen([*entry, *map(expanded, service["command"])], env=env, stderr=subprocess.DEVNULL)
    try:
        wait_healthy(check, env, origin)
        env |= variables | {"CHAOSPROXY_LISTEN": f"127.0.0.1:{ports['chaosproxy']}"}
        sidecar = subprocess.Popen([*entry, *json.loads(last("CMD"))], env=env, stderr=subprocess.DEVNULL)
        try:
            wait_healthy([*entry, "healthcheck"], env, sidecar)
            request = urllib.request.Request(
                f"http://127.0.0.1:{ports['chaosproxy']}/v1/chat/completions?gap=1ms",
                json.dumps({"model": "any", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}).encode(),
                {"content-type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert answer.read().endswith(b"data: [DONE]\n\n")
        finally:
            sidecar.terminate()
            sidecar.wait(30)
    finally:
        origin.terminate()
        origin.wait(30)


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml"])
def test_they_are_a_few_lines(name):
    assert len((ROOT / name).read_text().splitlines()) <= 30
