"""Small faults in Python code: one changed operator, number, argument or statement each.

What only words depend on is left alone: strings, docstrings, annotations, messages of errors and of ``say``.
"""

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
OPERATIONS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Pow: "*", ast.Mod: "*",
    ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "mean": "sum", "floor": "ceil", "ceil": "floor",
         "argmax": "argmin", "argmin": "argmax", "minimum": "maximum", "maximum": "minimum"}  # fmt: skip
WORDS = {"say", "print", "UserError", "ValueError", "unknown", "Diverged", "Interrupted", "Field", "title", "tqdm"}

TECHNICAL = {"encoding", "strict", "exist_ok", "parents", "non_blocking", "copy", "indent", "check_invariants"}


@dataclass(frozen=True)
class Mutant:
    """A file of the repository with the text between two offsets replaced; `code` is the line where it begins."""

    file: str
    code: str
    start: int
    end: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """What it changes, in words that stay when lines move."""
        before, after = (" ".join(text.split())[:80] or "nothing" for text in (self.before, self.after))
        return f"{self.file}: `{self.code}`: {before} -> {after}"

    def applied(self, text: str) -> str:
        return text[: self.start] + self.after + text[self.end :]


def mutants(root: Path, file: str) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    text = (root / file).read_text("utf-8")
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:  # Python counts a column in bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: ast.AST) -> tuple[int, int]:
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    found = []
    for node, start, end, after in changes(ast.parse(text), span, text):
        one = Mutant(file, lines[node.lineno - 1].strip(), start, end, text[start:end], after)
        with suppress(SyntaxError):  # where brackets lie between an operator and what it is applied to
            ast.parse(one.applied(text))
            found.append(one)
    return sorted(set(found), key=lambda one: (one.start, one.end, one.after))


def changes(tree: ast.AST, span, text: str) -> Iterator[tuple[ast.AST, int, int, str]]:
    """(node, start, end, new text) of every mutation."""
    for node in worth_changing(tree):
        if not hasattr(node, "lineno"):
            continue
        start, end = span(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            after = f" {COMPARISONS[type(node.ops[0])]} "
            yield node, span(node.left)[1], span(node.comparators[0])[0], after
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS and not is_text(node):
            yield node, span(node.left)[1], span(node.right)[0], f" {OPERATIONS[type(node.op)]} "
        elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
            after = " or " if isinstance(node.op, ast.And) else " and "
            yield node, span(node.values[0])[1], span(node.values[1])[0], after
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield node, start, end, text[slice(*span(node.operand))]
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, start, end, str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield node, start, end, str(node.value + 1 if isinstance(node.value, int) else node.value * 2 or 1.0)
        elif isinstance(node, ast.IfExp):
            parts = (text[slice(*span(part))] for part in (node.orelse, node.test, node.body))
            yield node, start, end, "{} if {} else {}".format(*parts)
        elif isinstance(node, ast.Call) and name_of(node.func) in NAMES:
            last = span(node.func)[1]
            yield node, last - len(name_of(node.func)), last, NAMES[name_of(node.func)]
        elif isinstance(node, ast.AugAssign | ast.Expr) and is_work(node):
            yield node, start, end, "pass"
        elif isinstance(node, ast.keyword) and node.arg:
            comma = text.find(",", end)
            gap = text[end : comma + 1]
            yield node, start, comma + 1 if comma > 0 and not gap.strip(", \n") else end, ""


def worth_changing(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that decide something; not words, types and imports."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert):
            continue
        if isinstance(child, ast.Call) and name_of(child.func) in WORDS:
            continue
        if isinstance(child, ast.keyword) and child.arg in WORDS | TECHNICAL | {"description", "help", "msg", "doc"}:
            continue
        if isinstance(child, ast.AnnAssign):
            if child.value is not None:
                yield from worth_changing(ast.Module([ast.Expr(child.value)], []))
            continue
        if isinstance(child, ast.FunctionDef):
            parts = [*child.args.defaults, *(one for one in child.args.kw_defaults if one), *child.body]
            yield from worth_changing(ast.Module(parts, []))
            continue
        if isinstance(child, ast.ClassDef):
            yield from worth_changing(ast.Module(child.body, []))
            continue
        yield child
        yield from worth_changing(child)


def name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_text(node: ast.BinOp) -> bool:
    parts = (node.left, node.right)
    return any(isinstance(one, ast.JoinedStr) or isinstance(getattr(one, "value", None), str) for one in parts)


def is_work(node: ast.stmt) -> bool:
    """A statement whose loss leaves valid code: no docstring, no yield."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and name_of(node.value.func) not in WORDS
    return True
