"""Paths, queries and mounts of request targets."""

import pytest

from chaosproxy.scenario.target import path_of, strip_mount


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"/a/b?c=d", "/a/b"),
        (b"/a?b?c", "/a"),
        (b"*", "*"),
        (b"h:443", "h:443"),
        (b"http://h/a?b", "/a"),
        (b"http://h", "/"),
        (b"http://h?x=/y", "/"),
        (b"/a://b", "/a://b"),
        (b"/%2f", "/%2f"),
    ],
)
def test_path(target, path):
    assert path_of(target) == path


@pytest.mark.parametrize(
    ("path", "rest"), [("/a", "/"), ("/a/", "/"), ("/a/b", "/b"), ("/ab", None), ("/", None), ("/b/a", None)]
)
def test_strip_mount(path, rest):
    assert strip_mount(path, "/a") == rest
