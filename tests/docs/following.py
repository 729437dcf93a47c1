"""Follows a page of the documentation as a reader would: writes the files it says, runs the commands it shows.

- A block behind a line that names a file in backticks and ends with a colon is that file.
- In a `console` block `$ ` begins a command, what follows is its output. Numbers may differ; a line `...` stands for any
  lines, `...` at the end of a line for its rest. A command must end with status 0, unless its output shows a failure.
- `chaosproxy run` and `chaosproxy origin` run on in a terminal of their own, until another one wants their address;
  what is shown of them must come up to the end of the page. `pip`, `make` and `docker` are not run.
- The ports of the page are exchanged for free ones.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.ports import free_port

WITHIN = 60.0
PORT = re.compile(r"(?<=:)8\d\d\d\b")
OURS = re.compile(r"^(?:CHAOSPROXY_\w+=\S+ )*chaosproxy (run|origin)\b")
NOT_RUN = ("pip ", "make ", "docker ", "python3 -m venv", "git ")
OTHERS = ("CHAOSPROXY_", "COV_", "PYTEST_", "OPENAI_", "ANTHROPIC_", "OLLAMA_")
"""What the surroundings have set is not the reader's."""
FAILURE = re.compile(r"failed|FAILED|error|Error")
BLOCK = re.compile(r"((?:^[^\n`]*\S[^\n]*\n)?)\n?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"`([\w.-]+\.(?:yaml|py|toml|ini))`[^`\n]*:$")


@dataclass(frozen=True)
class Block:
    """One fenced block, and the name of the file that it is."""

    language: str
    text: str
    file: str | None


def blocks(page: str) -> Iterator[Block]:
    for before, language, text in BLOCK.findall(page):
        named = FILE.search(before.rstrip("\n"))
        yield Block(language, text, named[1] if named else None)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """(command, the lines that it says) of a `console` block."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def essence(line: str) -> str:
    """Without what differs from run to run: numbers, but for a zero that is no time, and how they are aligned; and
    whether a client that leaves had read everything by then, which makes a FIN or a reset of it."""
    line = re.sub(r"\b(?:fin by client|rst by client(?:; (?:\[Errno \d+\] )?Connection[^;]*)?)", "left by client", line)
    return " ".join(re.sub(r"(?!0(?![\d.]| ms))\d+(?:\.\d+)?", "N", line).split())


def same(expected: list[str], seen: list[str]) -> bool:
    """Whether the lines seen are those expected."""
    if not expected:
        return not seen
    if expected[0].strip() == "...":
        return any(same(expected[1:], seen[at:]) for at in range(len(seen) + 1))
    if not seen:
        return False
    wanted, line = essence(expected[0]), essence(seen[0])
    fits = line.startswith(wanted[:-3].rstrip()) if wanted.endswith("...") else line == wanted
    return fits and same(expected[1:], seen[1:])


@dataclass
class Background:
    """A server that a page has started."""

    process: subprocess.Popen
    command: str
    log: Path
    expected: list[str]

    @property
    def said(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines()

    def shows(self) -> bool:
        """Everything that the page shows of it has come; it may say more."""
        return same([*self.expected, "..."], self.said)


@dataclass
class Follower:
    """One reader, in an empty folder."""

    folder: Path
    path: str
    """Where the commands are found."""
    ports: dict[str, str] = field(default_factory=dict)
    running: dict[str, Background] = field(default_factory=dict)
    seen: list[tuple[str, str]] = field(default_factory=list)
    """Each command with what it said."""
    servers: int = 0
    not_run: tuple[str, ...] = NOT_RUN
    within: float = WITHIN * 2
    """Seconds for one command."""

    def follow(self, page: str) -> None:
        try:
            for block in blocks(page):
                self.take(block)
        finally:
            for name in list(self.running):
                self.stop(name)

    def take(self, block: Block) -> None:
        text = self.mapped(block.text)
        if block.file is not None:
            (self.folder / block.file).write_text(text)
        elif block.language == "console":
            for command, expected in commands(text):
                if not command.startswith(self.not_run):
                    self.run(command, expected)

    def mapped(self, text: str) -> str:
        """With free ports in place of the page's."""

        def free(found: re.Match[str]) -> str:
            if found[0] not in self.ports:
                self.ports[found[0]] = str(free_port())
            return self.ports[found[0]]

        return PORT.sub(free, text)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
        listen, origin = self.mapped("127.0.0.1:8666"), self.mapped("127.0.0.1:8000")
        return kept | {
            "PATH": f"{self.path}{os.pathsep}{os.environ['PATH']}",
            "CHAOSPROXY_LISTEN": listen,
            "CHAOSPROXY_ORIGIN_LISTEN": origin,
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }

    def run(self, command: str, expected: list[str]) -> None:
        if OURS.match(command):
            self.start(command, expected)
            return
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self.within,
            check=False,
        )
        self.seen.append((command, done.stdout))
        may_fail = any(FAILURE.search(line) for line in expected)
        assert done.returncode == 0 or may_fail, f"$ {command}\nstatus {done.returncode}\n{done.stdout}"
        said = done.stdout.splitlines()
        assert command.startswith(NOT_RUN) or same(expected, said), (
            f"$ {command}\n{done.stdout}\nis not what the page shows"
        )

    def start(self, command: str, expected: list[str]) -> None:
        found = OURS.match(command)
        assert found is not None
        words = shlex.split(command)
        default = self.environment["CHAOSPROXY_LISTEN" if found[1] == "run" else "CHAOSPROXY_ORIGIN_LISTEN"]
        address = words[words.index("--listen") + 1] if "--listen" in words else default
        self.stop(address)
        self.servers += 1
        log = self.folder / f".server-{self.servers}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}" if "=" not in words[0] else f"exec env {command}"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.running[address] = server = Background(process, command, log, expected)
        host, _, port = address.rpartition(":")
        self.until(server, lambda: accepts(host, int(port)), "it does not accept")

    def stop(self, address: str) -> None:
        """As Ctrl-C does; by then it has said what the page shows."""
        server = self.running.pop(address, None)
        if server is None:
            return
        try:
            self.until(server, server.shows, "that is not what the page shows")
        finally:
            server.process.send_signal(signal.SIGINT)
            status = server.process.wait(WITHIN)
            self.seen.append((server.command, "\n".join(server.said)))
        assert status == 0, f"$ {server.command}\nstatus {status}\n{server.said}"

    @staticmethod
    def until(server: Background, condition, what: str) -> None:
        deadline = time.monotonic() + WITHIN
        while not condition():
            said = "\n".join(server.said)
            assert server.process.poll() is None, f"$ {server.command}\nended: {said}"
            assert time.monotonic() < deadline, f"$ {server.command}\n{said}\n{what}"
            time.sleep(0.02)


def accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def follow(page: str, folder: Path, path: str = "") -> Follower:
    """Follow `page` in the empty `folder`, with the programs of this environment or of `path`."""
    follower = Follower(folder, path or str(Path(sys.executable).parent))
    follower.follow(page)
    return follower
