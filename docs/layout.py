"""A drawing of layers without a drawing library: who stands where, so that few lines cross and most are straight.

The usual way (Sugiyama, Tagawa and Toda 1981): a line over several rows bends at a point in each; the points of a row
are ordered by where their neighbours stand; then each moves to the middle of its neighbours, as far as its row allows.
Must not know: what is drawn.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
SWEEPS = 12


@dataclass(frozen=True)
class Layout:
    """Every node's middle, and every edge as the points that it passes, ends included; `x` in the units of `width`,
    `y` in rows."""

    nodes: dict[str, tuple[float, int]]
    edges: dict[Edge, list[tuple[float, int]]]


def needed(edges: Iterable[Edge]) -> set[Edge]:
    """Without what follows from the rest: a -> c goes where a -> b -> c stands."""
    edges = set(edges)
    after: dict[str, set[str]] = {}
    for above, below in edges:
        after.setdefault(above, set()).add(below)

    def reached(start: str) -> set[str]:
        return {start}.union(*(reached(one) for one in after.get(start, ())))

    return {(a, c) for a, c in edges if not any(c in reached(b) for b in after[a] - {c})}


def layout(layers: Sequence[Sequence[str]], edges: Iterable[Edge], width: float, gap: float) -> Layout:
    """`layers` from above; `edges` lead downwards. Nodes are `width` wide and `gap` apart, lines half a `gap`."""
    depth = {node: number for number, layer in enumerate(layers) for node in layer}
    rows = [list(layer) for layer in layers]
    routes: dict[Edge, list[str]] = {}
    for above, below in sorted(edges):
        bends = [f"{above} {below} {row}" for row in range(depth[above] + 1, depth[below])]
        for row, bend in enumerate(bends, depth[above] + 1):
            rows[row].append(bend)
        routes[above, below] = [above, *bends, below]
    rows = _ordered(rows, [step for route in routes.values() for step in pairwise(route)])
    sizes = {node: width if node in depth else 0.0 for row in rows for node in row}
    places = _placed(rows, list(routes.values()), sizes, gap)
    where = {node: (places[node], number) for number, row in enumerate(rows) for node in row}
    return Layout(
        {node: where[node] for node in depth}, {edge: [where[one] for one in routes[edge]] for edge in routes}
    )


def _neighbours(steps: Iterable[Edge]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for upper, lower in steps:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    return above, below


def _crossings(rows: Sequence[Sequence[str]], steps: Sequence[Edge]) -> int:
    at = {node: (number, index) for number, row in enumerate(rows) for index, node in enumerate(row)}
    drawn = [(at[upper][0], at[upper][1], at[lower][1]) for upper, lower in steps]
    return sum(
        row == other and (upper - upper2) * (lower - lower2) < 0
        for index, (row, upper, lower) in enumerate(drawn)
        for other, upper2, lower2 in drawn[index + 1 :]
    )


def _ordered(rows: list[list[str]], steps: Sequence[Edge]) -> list[list[str]]:
    """The order with the fewest crossings that a few sweeps find."""
    above, below = _neighbours(steps)
    best = [list(row) for row in rows]
    for sweep in range(SWEEPS):
        beside = below if sweep % 2 else above
        for number in range(len(rows))[:: -1 if sweep % 2 else 1]:
            at = {node: index / max(len(row) - 1, 1) for row in rows for index, node in enumerate(row)}
            rows[number].sort(key=_mean_of(beside, at))
        if _crossings(rows, steps) < _crossings(best, steps):
            best = [list(row) for row in rows]
    return best


def _mean_of(beside: dict[str, list[str]], at: dict[str, float]) -> Callable[[str], float]:
    def mean(node: str) -> float:
        neighbours = beside.get(node)
        return sum(at[one] for one in neighbours) / len(neighbours) if neighbours else at[node]

    return mean


def _placed(
    rows: Sequence[Sequence[str]], routes: Sequence[Sequence[str]], sizes: dict[str, float], gap: float
) -> dict[str, float]:
    above, below = _neighbours(step for route in routes for step in pairwise(route))
    at: dict[str, float] = {}
    for row in rows:
        at.update(_apart(row, dict.fromkeys(row, 0.0), sizes, gap))
    for sweep in range(4 * SWEEPS):
        for row in rows[:: -1 if sweep % 2 else 1]:
            wanted = {}
            for node in row:
                beside = [at[one] for one in (*above.get(node, ()), *below.get(node, ()))]
                wanted[node] = sum(beside) / len(beside) if beside else at[node]
            at.update(_apart(row, wanted, sizes, gap))
    leftmost = min(at[node] - sizes[node] / 2 for node in at)
    return {node: x - leftmost for node, x in at.items()}


def _apart(row: Sequence[str], wanted: dict[str, float], sizes: dict[str, float], gap: float) -> dict[str, float]:
    """As near to where they want to stand as their order and sizes allow (least squares: neighbours that would collide
    share the mean of their wishes)."""
    offsets, offset, before = [], 0.0, None
    for node in row:
        if before is not None:
            offset += (sizes[before] + sizes[node]) / 2 + (gap if sizes[before] and sizes[node] else gap / 2)
        offsets.append(offset)
        before = node
    blocks: list[tuple[float, int]] = []
    for node, offset in zip(row, offsets, strict=True):
        mean, count = wanted[node] - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, many = blocks.pop()
            mean, count = (mean * count + other * many) / (count + many), count + many
        blocks.append((mean, count))
    starts = [mean for mean, count in blocks for _ in range(count)]
    return {node: start + offset for node, start, offset in zip(row, starts, offsets, strict=True)}
