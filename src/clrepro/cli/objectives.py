"""``clrepro objectives`` and ``xray``: the losses, and what the gradient of one does."""

from pathlib import Path
from typing import Annotated

import typer

from clrepro.errors import UserError
from clrepro.paths import checkout


def objectives(
    name: Annotated[str | None, typer.Argument(help="print the page of this one")] = None,
    docs: Annotated[bool, typer.Option("--docs", help="rewrite docs/objectives/, changed x-rays too")] = False,
) -> None:
    """List the objectives with variants and parameters, or print one objective's page."""
    from clrepro.objectives import names, signatures
    from clrepro.report import objective_pages

    if docs:
        folder = checkout("`clrepro objectives --docs` rewrites a checkout's docs/objectives/") / "docs/objectives"
        import torch
        from tqdm import tqdm

        from clrepro.report import xrays

        torch.set_num_threads(1)  # the matrices are small: threads would wait for each other
        xrays.write(lambda labels: tqdm(labels, desc="x-rays", disable=None))
        objective_pages.write(folder)
    elif name:
        print(objective_pages.page(name), end="")
    else:
        for known in names():
            for variant, parameters in signatures(known).items():
                defaults = ", ".join(f"{key}={parameter.text()}" for key, parameter in parameters.items())
                print(f"{known:<22}{variant:<18}{defaults}")


def xray(
    context: typer.Context,
    loss: Annotated[str, typer.Argument(help="an objective's name, or file.py:Name or package.module:Name of a loss")],
    variant: Annotated[str | None, typer.Option(help="written, released, ... of the library's objectives")] = None,
    out: Annotated[Path, typer.Option(help="folder for the picture and its numbers")] = Path("results/xray"),
) -> None:
    """Show what the gradient of a loss does: dissipation, weight, ratio, and what is none of them.

    Further options are the loss's own parameters, as in: clrepro xray my_loss.py:MyLoss --temperature 0.05

    A loss is a class or a function, called as loss(view1, view2) with (N, D) tensors. The command prints a verdict and
    writes a figure (SVG, PNG) and its numbers (csv), in seconds.
    """
    import torch
    from tqdm import tqdm

    from clrepro.xray.picture import write
    from clrepro.xray.picture import xray as examine
    from clrepro.xray.subject import subject

    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other
    given = own_parameters(context.args)
    chosen = subject(loss, variant, given)
    result = examine(chosen, lambda batches: tqdm(batches, desc="batches", leave=False, disable=None))
    print(result.title)
    for sentence in result.verdict:
        print(f"  {sentence}")
    settings = (f"{key}={str(value).replace('/', '_')}" for key, value in given.items())
    label = "-".join(filter(None, [chosen.name, chosen.variant, *settings]))
    try:
        files = write(result, out / label)
    except OSError as failure:
        raise UserError(f"--out {out}: cannot write there ({failure.strerror})") from None
    print(f"figure: {', '.join(map(str, files))}")


def own_parameters(words: list[str]) -> dict[str, float | int | bool | str | None]:
    """{name: value} from the words ``--name value`` or ``--name=value``, numbers, true, false and none being such."""
    found = {}
    rest = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    while rest:
        key = rest.pop(0)
        if not key.startswith("--") or not rest or rest[0].startswith("--"):
            raise UserError(f"'{key}' is no parameter of a loss: write --name value")
        found[key[2:].replace("-", "_")] = own_value(rest.pop(0))
    return found


def own_value(word: str) -> float | int | bool | str | None:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None, "null": None}.get(word.lower(), word)
