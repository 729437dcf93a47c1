"""Every small mistake that could be written into a module: a comparison that is off by one, a condition that always holds,
a statement left out.

Rules: a mutant is one change of the syntax tree, made by `apply`, for a process that ends with it. Left alone is what
changes no answer: annotations, docstrings, decorators, asserts, the words of an exception, `__repr__`, `__slots__`.
Must not know: tests, processes.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith", "find": "rfind"}


@dataclass(slots=True)
class Mutant:
    function: str
    """With its class; empty for what runs when the module is imported."""
    lines: range
    """Of the statement; of a compound one, its head."""
    body: range
    """Of the function; empty outside."""
    was: str
    now: str
    parent: ast.AST
    field: str
    at: int | None
    new: ast.AST

    def apply(self) -> None:
        if self.at is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.at] = self.new


@dataclass(frozen=True, slots=True)
class _Place:
    name: str = ""
    """With the classes around it, for what stands inside."""
    function: str = ""
    body: range = range(0)
    lines: range = range(0)


def mutants(tree: ast.Module) -> list[Mutant]:
    """All of them, in the order of the text."""
    return list(_inside(tree, _Place()))


def _inside(node: ast.AST, place: _Place) -> Iterator[Mutant]:
    for field, at, child in _children(node):
        if _left_alone(node, field, child):
            continue
        here = replace(place, lines=_lines(child) or place.lines)
        for new in _replacements(child, inside=bool(place.function)):
            yield Mutant(here.function, here.lines, here.body, _text(child), _text(new), node, field, at, new)
        match child:
            case ast.ClassDef():
                here = replace(here, name=f"{place.name}{child.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                body = range(child.body[0].lineno, (child.end_lineno or 0) + 1)
                name = f"{place.name}{child.name}"
                here = replace(here, name=f"{name}.", function=place.function or name, body=place.body or body)
        yield from _inside(child, here)


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield field, None, value
        elif isinstance(value, list):
            for at, one in enumerate(value):
                if isinstance(one, ast.AST):
                    yield field, at, one


def _left_alone(node: ast.AST, field: str, child: ast.AST) -> bool:
    if field in {"annotation", "returns", "decorator_list", "bases", "keywords", "type_params"} and not isinstance(
        node, ast.Call
    ):
        return True
    match child:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef(name="__repr__" | "__str__"):
            return True
        case ast.Assign(targets=[ast.Name(id="__slots__" | "__all__" | "__hash__")]):
            return True
        case ast.Assign(value=ast.Subscript() | ast.BinOp(op=ast.BitOr())) if isinstance(node, ast.Module):
            return True  # the name of a type
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
            return True  # another pattern would hardly be one
        case ast.Raise(exc=ast.Call(func=ast.Name(id="AssertionError" | "NotImplementedError"))):
            return True  # nothing comes there
        case ast.match_case(pattern=ast.MatchAs(pattern=None, name=None), body=[ast.Pass() | ast.Raise()]):
            return True  # nor there, or it would change nothing
        case ast.match_case(body=[ast.Expr(value=ast.Call(func=ast.Name(id="assert_never")))]):
            return True
    match node:
        case ast.Raise():
            return True
        case ast.Call(func=ast.Name(id="cast")):
            return child is node.args[0]
        case ast.Call(func=ast.Name(id="isinstance")):
            return child is node.args[1]
    return False


def _lines(node: ast.AST) -> range | None:
    """Where a statement stands; of a compound one, its head."""
    match node:
        case ast.match_case():
            return range(node.pattern.lineno, max(node.body[0].lineno, node.pattern.lineno + 1))
        case ast.stmt():
            body = getattr(node, "body", None)
            if isinstance(node, ast.Match):
                return range(node.lineno, node.cases[0].pattern.lineno)
            if isinstance(body, list):
                return range(node.lineno, max(body[0].lineno, node.lineno + 1))
            return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return None


def _text(node: ast.AST) -> str:
    match node:
        case ast.match_case():
            guard = f" if {ast.unparse(node.guard)}" if node.guard else ""
            return f"case {ast.unparse(node.pattern)}{guard}"
        case ast.If() | ast.While():
            return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
        case _:
            return ast.unparse(node)


def _replacements(node: ast.AST, *, inside: bool) -> Iterator[ast.AST]:
    """What could have been written in the place of `node`; `inside` a function."""
    if isinstance(node, ast.stmt):
        if inside:
            yield from _statements(node)
    elif isinstance(node, ast.match_case):
        yield ast.match_case(node.pattern, ast.Constant(False), node.body)
        if node.guard:
            yield ast.match_case(node.pattern, None, node.body)
    elif isinstance(node, ast.expr):
        yield from _expressions(node)


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.If():
            yield ast.If(ast.Constant(True), node.body, node.orelse)
            yield ast.If(ast.Constant(False), node.body, node.orelse)
        case ast.While():
            yield ast.While(ast.Constant(False), node.body, node.orelse)
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.AugAssign():
            yield ast.Assign([node.target], node.value, lineno=node.lineno)
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Expr(value=ast.Call()) | ast.Delete():
            yield ast.Pass()
        case ast.Raise():
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for at, op in enumerate(node.ops):
                yield ast.Compare(
                    node.left, [*node.ops[:at], COMPARED[type(op)](), *node.ops[at + 1 :]], node.comparators
                )
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            for at in range(len(node.values)):
                rest = node.values[:at] + node.values[at + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.BinOp(left=ast.Constant(value=str() | bytes())):
            pass  # a format
        case ast.BinOp() if type(node.op) in COMPUTED:
            yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Call(func=ast.Name() | ast.Attribute()):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if other := CALLED.get(name):
                func = ast.Name(other) if isinstance(node.func, ast.Name) else ast.Attribute(node.func.value, other)
                func.ctx = ast.Load()
                yield ast.Call(func, node.args, node.keywords)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp() if node.generators[0].ifs:
            first, *others = node.generators
            every = ast.comprehension(first.target, first.iter, [], first.is_async)
            yield type(node)(**{**dict(ast.iter_fields(node)), "generators": [every, *others]})
        case ast.Constant():
            yield from _constants(node.value)


def _constants(value: object) -> Iterator[ast.expr]:
    match value:
        case bool():
            yield ast.Constant(not value)
        case int() | float():
            yield ast.Constant(value + 1)
        case bytes():
            yield ast.Constant(value[:-1] + b"?")
        case str() if " " not in value:  # else it is for a person
            yield ast.Constant(value[:-1] + "?")
