"""What a claim's references stand for: a table's cell, a point of a figure, a number of a simulation."""

from collections.abc import Callable
from functools import cache

import numpy as np

from clrepro.catalogue import Catalogue, Cell, papers
from clrepro.catalogue.tables import PRINTED
from clrepro.errors import unknown
from clrepro.ledger import clouds, points, simulated, sweeps
from clrepro.ledger.published import published
from clrepro.ledger.quantity import Quantity
from clrepro.ledger.records import Records
from clrepro.ledger.scores import run_id, scores


def resolver(catalogue: Catalogue, paper: str, records: Records) -> Callable[[str], Quantity]:
    """A function from a paper's references to quantities; what the paper does not have is a UserError."""
    tables = papers.all_tables(paper)
    figures = {name.partition("/")[2] for name in catalogue.figure_names() if name.startswith(f"{paper}/")}
    printed = published(paper).set_index(["table", "row", "column", "metric"])["value"].to_dict()
    figure = cache(lambda name: catalogue.figure(f"{paper}/{name}"))
    studies = {one.name: one for one in catalogue.simulations if one.paper == paper}
    numbers = cache(lambda name: simulated.numbers(studies[name].csv))

    @cache
    def resolve(reference: str) -> Quantity:
        name, *rest = reference.split("/")
        address = (name, *rest, "value") if len(rest) == 2 else (name, *rest)
        if (paper, *address) in catalogue.cells:
            return of_cell(catalogue, catalogue.cells[paper, *address], records, printed)
        if name in studies:
            return simulated.quantity(catalogue, studies[name], reference, numbers(name))
        if name in figures and sweeps.REFERENCE.fullmatch(reference):
            return sweeps.quantity(catalogue, figure(name), reference, records)
        if name in figures:
            kind = clouds.quantity if clouds.REFERENCE.fullmatch(reference) else points.quantity
            return kind(catalogue, figure(name), reference, records)
        if name not in tables:
            raise unknown("table or figure", name, {*tables, *figures, *studies}, f"the reference '{reference}'")
        cells = {"/".join(key[1:]) for key in catalogue.cells if key[:2] == (paper, name)}
        raise unknown("cell", "/".join(address), cells, f"the reference '{reference}'")

    return resolve


def of_cell(catalogue: Catalogue, cell: Cell, records: Records, printed: dict) -> Quantity:
    """A cell of a table, or a number that stands in a figure or a sentence."""
    spec = papers.all_tables(cell.paper)[cell.table]
    name = "/".join((cell.paper, cell.table, cell.row, cell.column, cell.metric))
    # a row of ours that stands beside another row's printed number has none of its own
    number = printed.get(cell.published_address) if cell.published_row is None else None
    number = None if number is None or np.isnan(number) else float(number)
    if papers.kind(spec) in PRINTED:
        return Quantity({}, number, (), "it is printed in the paper, not a result of runs", "", name)
    ours = scores(catalogue, cell, records)
    values = {seed: cell.factor * value for seed, value in ours.by_seed.items()}
    why = ours.note if values or not ours.fill else f"{ours.note}: {ours.fill}"
    runs = tuple(map(run_id, ours.runs))
    measured = name if cell.differences else f"{cell.score} of {' '.join(runs)}"
    family, comparable = family_of(cell.score, cell.unit), catalogue.compares(cell.runs or ours.runs)
    return Quantity(values, number, runs, why, family, name, measured, bool(cell.differences), comparable)


def family_of(score: str | None, unit: str | None) -> str:
    """Averages of seven tasks vary less than single tasks, and differences of cells are contrasts already."""
    kind, _, task = (score or "").partition("/")
    return " ".join(filter(None, [kind, "average" if task == "Avg" else "", (unit or "").split(" ")[0]]))
