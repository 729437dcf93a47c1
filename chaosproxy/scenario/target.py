"""The path and the query of a request target, as rules see them, and the mount taken off it.

Rules: a path is compared as it was sent, never decoded; a query is decoded as a form is (`+` is a blank).
Must not know: rules, protocols.
"""

from urllib.parse import parse_qsl


def path_of(target: bytes) -> str:
    """The path without query: also of an absolute form; an authority (CONNECT) and `*` stand for themselves."""
    return _split(target)[1]


def query_of(target: bytes) -> list[tuple[str, str]]:
    """The query's (name, value) pairs, decoded, in order."""
    query = _split(target)[2]
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return []  # a thousand parameters: nothing that a rule would ask for


def _split(target: bytes) -> tuple[str, str, str]:
    """What stands before the path (an absolute form's scheme and authority), the path, the query."""
    text = target.decode("utf-8", "replace").partition("#")[0]
    rest, _, query = text.partition("?")
    scheme, separator, tail = rest.partition("://")
    if separator and scheme.isalnum():
        authority, slash, path = tail.partition("/")
        return f"{scheme}://{authority}", slash + path or "/", query
    return "", rest, query


def strip_mount(path: str, mount: str) -> str | None:
    """`path` behind `mount`; None where it is not under it. `/a` is over `/a` and `/a/b`, not over `/ab`."""
    if path == mount:
        return "/"
    if path.startswith(mount) and path[len(mount)] == "/":
        return path[len(mount) :]
    return None
