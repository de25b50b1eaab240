"""The documentation of the objectives, generated from their files: one page each, and an overview to choose from.

A file's docstring holds the equations and ends with four lines: Siblings, Negatives, When, Cites. Parameters and
defaults come from the functions' signatures, citations from ``references.yaml``. Nothing is imported.
"""

import ast
import re
from functools import cache
from pathlib import Path

import yaml

from clrepro.errors import UserError, unknown
from clrepro.objectives import default_variant, names, signatures, source
from clrepro.report import xrays

FIELDS = ("Siblings", "Negatives", "When", "Cites")
VARIANTS = {
    "written": "the paper's equation, misprints corrected",
    "released": "what the authors' code computes",
    "released_li2024": "what the code of li2024 computes",
    "original": "the loss of the method's own paper",
}
PARAMETERS = {
    "temperature": "tau: divides cosines before the exponential, > 0",
    "inter_temperature": "the temperature of the anchors' weights, > 0",
    "base_temperature": "tau0: the temperature at alignment A0, > 0",
    "align_uniform.alpha": "exponent of the alignment, > 0",
    "macl.alpha": "slope of the temperature over the alignment, >= 0",
    "alignment_threshold": "A0: the alignment at which the temperature is tau0, in [-1, 1]",
    "reweight": "whether anchors are weighted by 1 / (1 - P)",
    "negatives": "cross: the other view's rows, N anchors; both: the rows of both views, 2N anchors",
    "reduction": "mean or sum over the anchors; the sum makes an SGD step as many times as long",
    "oar.reduction": "mean: the anchors' terms are divided by the 2N rows; sum: not, as printed; the base alike",
    "sigma": "width of the positive's weight (DCLW), > 0",
    "angle": "u: added to the positive's angle, radians",
    "margin": "m: the lead over the hardest negative, in cosine, at which an anchor is done",
    "met.margin": "m: the lead over the nearest negative, in distance, at which an anchor is done",
    "mat.margin": "m: the lead over the nearest negative, in radians, at which an anchor is done",
    "lam": "lambda: the weight against the alignment, >= 0",
    "align_uniform.lam": "lambda: the share of uniformity, 0 to 1",
    "barlow_twins.lam": "lambda: the weight of the off-diagonal entries, >= 0",
    "vicreg.lam": "lambda: the weight of the covariances, >= 0",
    "modified_barlow_twins.lam": "lambda: the weight of the negatives and, with a ratio, of the positives, >= 0",
    "modified_vicreg.lam": "lambda: the weight of the negatives and, with a ratio, of the positives, >= 0",
    "oar.lam": "lambda: the weight of the pull to the anchors, >= 0",
    "infonce_mixup.lam": "lambda: the share of the first vector in a mixture, 0 <= lambda < 1",
    "t": "sharpness of the Gaussian potential, > 0",
    "kind": "positive: negatives mixed with the positive; negatives: hard negatives with each other",
    "mixed": "number of mixed negatives of an anchor (kind negatives), >= 1",
    "power": "weights max(s, 1e-4)^power in place of the softmax",
    "ratio": "r: the positive's coefficient against the negatives' sum",
    "invariance": "weight of the distance between the views, >= 0",
    "variance": "weight of the variance hinge, >= 0",
    "covariance": "weight of the off-diagonal covariances, >= 0",
    "base_variant": "its variant",
    "base": "the objective that the anchors are added to; its own parameters are passed beside",
}
NULL = {
    "margin": "no anchor is ever done",
    "temperature": "the weights before the modification",
    "ratio": "as before the modification",
    "power": "the softmax",
    "sigma": "no weight",
    "base_variant": "its default",
}
READING = (
    "What the gradient at an anchor does, measured by automatic differentiation; "
    "[how to read it](../xray.md). With other parameters: `clrepro xray NAME --variant VARIANT --PARAMETER VALUE`."
)
STATE = {
    "queue": "(K, D), optional: keys of earlier batches, in place of the batch's other rows as negatives",
    "labels": "(N,) int64, optional: the examples' classes, negative where unknown",
    "anchors": "(classes, D): orthonormal rows, needed with labels",
}


@cache
def references() -> dict[str, dict]:
    return yaml.safe_load(source("infonce").with_name("references.yaml").read_text("utf-8"))


@cache
def parsed(name: str) -> tuple[str, str, dict[str, str], dict[str, str], list[str]]:
    """(title, equations and source, the four closing fields, {variant: its docstring}, state) of an objective."""
    tree = ast.parse(source(name).read_text("utf-8"))
    title, _, rest = ast.get_docstring(tree).partition("\n")
    found = list(re.finditer(rf"^({'|'.join(FIELDS)}): ", rest, re.MULTILINE))
    missing = set(FIELDS) - {match[1] for match in found}
    if missing:
        raise UserError(f"{source(name)}: its docstring lacks the line '{sorted(missing)[0]}: ...'")
    ends = [match.start() for match in found[1:]] + [len(rest)]
    fields = {match[1]: " ".join(rest[match.end() : end].split()) for match, end in zip(found, ends, strict=True)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    table = next(n for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "VARIANTS")
    used = {k.value: functions[v.id] for k, v in zip(table.value.keys, table.value.values, strict=True)}
    variants = {variant: " ".join(ast.get_docstring(function).split()) for variant, function in used.items()}
    state = [a.arg for a in next(iter(used.values())).args.kwonlyargs if "Tensor" in ast.unparse(a.annotation)]
    return title, rest[: found[0].start()].strip("\n"), fields, variants, state


def fenced(text: str) -> str:
    """Docstring text as Markdown: runs of indented lines are code blocks."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        indented = line.startswith("    ")
        if indented != inside and (indented or line.strip() or inside):
            lines += ["", "```text"] if indented else ["```", ""]
            inside = indented
        lines.append(line.removeprefix("    ") if indented else line.strip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*lines, *(["```"] if inside else [])]))


def page(name: str) -> str:
    """One objective's page, Markdown."""
    if name not in names():
        raise unknown("objective", name, names())
    title, body, fields, variants, state = parsed(name)
    every = signatures(name)
    standard = default_variant(every)
    parts = [f"# {name}", title, fenced(body).strip("\n"), "## Inputs"]
    parts.append("`view1`, `view2`: (N, D) raw encoder outputs, N >= 2, row i of both being views of example i.")
    parts += [f"`{item}`: {STATE[item]}." for item in state]
    parts += [f"Negatives: {fields['Negatives']}", "## Variants"]
    lines = ["| variant | is | function |", "|---|---|---|"]
    for variant, text in variants.items():
        mark = " (default)" if variant == standard else ""
        lines.append(f"| `{variant}`{mark} | {VARIANTS[variant]} | {text.replace('|', chr(92) + '|')} |")
    parts += ["\n".join(lines), "## Parameters"]
    lines = ["| parameter | " + " | ".join(f"`{variant}`" for variant in every) + " | meaning |"]
    lines.append("|---|" + "---|" * (len(every) + 1))
    for key in dict.fromkeys(key for parameters in every.values() for key in parameters):
        defaults = [f"`{parameters[key].text()}`" if key in parameters else "" for parameters in every.values()]
        lines.append(f"| `{key}` | {' | '.join(defaults)} | {meaning(name, key)} |")
    parts.append("\n".join(lines))
    parts.append(f'```python\nfrom clrepro.objectives import make\n\nloss = make("{name}")(view1, view2)\n```')
    parts += ["## Gradient x-ray", READING, *(gradient(name, variant) for variant in variants)]
    linked = re.sub(r"`(\w+)`", lambda match: link(match[1]), fields["Siblings"])
    parts += ["## When to choose it, and its siblings", sentence(fields["When"]), f"Siblings: {linked}", "## Cites"]
    parts.append("\n".join(f"- {citation(key.strip())}" for key in fields["Cites"].rstrip(".").split(",")))
    return "\n\n".join(parts) + "\n"


def gradient(name: str, variant: str) -> str:
    """The x-ray of a variant, as drawn and worded by `clrepro objectives --docs`."""
    label = f"{name}-{variant}"
    found = xrays.verdicts().get(label, {}).get("verdict", ["not x-rayed yet: make docs"])
    lines = "\n".join(f"- {sentence}" for sentence in found)
    return f"`{variant}`, default parameters:\n\n{lines}\n\n![x-ray of {name}, {variant}](xray/{label}.png)"


def meaning(name: str, key: str) -> str:
    found = PARAMETERS.get(f"{name}.{key}") or PARAMETERS.get(key)
    if found is None:
        raise UserError(f"{source(name)}: the parameter '{key}' has no line in PARAMETERS of {Path(__file__).name}")
    nullable = any(type(None) in parameters[key].kinds for parameters in signatures(name).values() if key in parameters)
    return f"{found}; null: {NULL[key]}" if nullable else found


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def link(word: str) -> str:
    return f"[`{word}`]({word}.md)" if word in names() else f"`{word}`"


def citation(key: str) -> str:
    entry = references().get(key)
    if entry is None:
        raise unknown("reference", key, references(), "references.yaml")
    return f"{entry['authors']} ({entry['year']}). {entry['title']}. {entry['venue']}. `{key}`"


def overview() -> str:
    """The table to choose from, Markdown."""
    parts = [
        "# Objectives",
        "Generated from `src/clrepro/objectives/` by `make docs`; do not edit.",
        "Every objective is a pure function of two views, checked against an independent NumPy oracle and, where "
        "a code was released, its own numbers; two and four processes have the gradient of one. "
        "`clrepro objectives NAME` prints a page in the terminal. To add yours: "
        "[add-your-objective.md](../add-your-objective.md). How fast they are: "
        "[benchmarks](../benchmarks/objectives.md).",
    ]
    lines = ["| objective | what it is | negatives | choose it for | variants |", "|---|---|---|---|---|"]
    for name in names():
        title, _, fields, variants, _ = parsed(name)
        shown = ", ".join(f"`{variant}`" for variant in variants)
        what = re.sub(r"`(\w+)`", lambda match: link(match[1]), title.rstrip("."))
        negatives, when = (fields[key].rstrip(".") for key in ("Negatives", "When"))
        lines.append(f"| [`{name}`]({name}.md) | {what} | {negatives} | {when} | {shown} |")
    parts += ["\n".join(lines), "## Variants", "\n".join(f"- `{key}`: {text}" for key, text in VARIANTS.items())]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """{file name: text} of docs/objectives."""
    return {"README.md": overview(), **{f"{name}.md": page(name) for name in names()}}


def write(folder: Path) -> None:
    """Write all pages and remove those of objectives that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for file in folder.glob("*.md"):
        if file.name not in wanted:
            file.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, "utf-8")
