"""Paths, queries and mounts of request targets."""

import pytest

from chaosproxy.scenario.target import path_of, strip_mount, unmounted


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


@pytest.mark.parametrize(
    ("target", "rest"),
    [
        (b"/a/b?c=d", b"/b?c=d"),
        (b"/a?c=/a", b"/?c=/a"),
        (b"/a", b"/"),
        (b"/a/\xff", b"/\xff"),
        (b"http://h/a/b", b"http://h/b"),
        (b"http://h/a", b"http://h/"),
        (b"/b", b"/b"),
    ],
)
def test_unmounted(target, rest):
    assert unmounted(target, "/a") == rest


def test_without_a_mount_the_target_is_the_same():
    assert unmounted(b"/a?b", "") == b"/a?b"
