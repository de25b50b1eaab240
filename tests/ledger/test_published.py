"""The published numbers: none is lost or made up, and their averages recompute."""

from decimal import Decimal
from itertools import product

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.ledger import published


def test_published_is_one_long_frame_with_the_papers_ids():
    frame = published()
    assert list(frame.columns) == [
        "paper", "version", "table", "row", "column", "metric", "value", "std", "decimals", "unit", "kind"
    ]  # fmt: skip
    key = frame.set_index(["paper", "table", "row", "column", "metric"])["value"]
    assert key.index.is_unique
    assert key["nie2023", "table_1", "L_met", "RoBERTa_large", "sts"] == 78.71
    assert key["li2024", "table_3", "BERT_base mMHE", "STS13", "value"] == 84.32
    assert key["li2024", "table_3", "BERT_base mMHE", "STS13", "delta"] == 16.2
    assert key["li2024", "table_3_v1", "mB", "RoBERTa_base", "delta_sts"] == 7.64
    assert ("li2024", "table_3", "BERT_base mpt", "STS12", "value") not in key.index
    # numbers that no table holds
    assert key["huang2023", "figure_3", "MACL", "1024", "value"] == 66.5
    assert key["huang2023", "figure_3", "SimCLR drop 2048 to 256", "top1", "value"] == 4.2
    assert key["huang2023", "figure_3", "MACL drop 2048 to 256", "top1", "value"] == 2.6
    assert key["huang2023", "text", "gain on MUV in B.5", "stated", "value"] == 2.97
    assert key["nie2023", "text", "gain of L_dcl+ over L_dcl on STS (section 4.1)", "high", "value"] == 7
    kinds = frame.drop_duplicates(["paper", "table"]).groupby("kind").size()
    assert kinds.to_dict() == {"figure": 2, "quoted": 1, "results": 21, "settings": 5, "text": 3}


def printed(node) -> list[float]:
    """All numbers at and below a node of published.yaml."""
    if isinstance(node, dict):
        return [number for child in node.values() for number in printed(child)]
    return [node] if isinstance(node, int | float) else []


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_no_published_number_is_lost_or_made_up(paper):
    frame = published(paper)
    frame = frame[frame["kind"] != "text"]
    content = papers.load(paper, "published")
    every = [*papers.published_tables(paper).values(), *content.get("stated", {}).values()]
    expected = [
        n for table in every for row in table["rows"] for kind in ("values", "delta") for n in printed(row.get(kind))
    ]
    assert sorted([*frame["value"], *frame["std"].dropna()]) == sorted(expected)


def test_a_mean_and_its_deviation_are_one_number():
    frame = published("huang2023").set_index(["table", "row", "column", "metric"])
    mutag = frame.loc[("table_4", "MACL", "MUTAG", "value")]
    assert (mutag["value"], mutag["std"]) == (89.04, 0.98)
    assert frame.loc[("table_B3", "NT-Xent", "64", "knn"), "value"] == 78.80
    assert frame.loc[("table_B4", "MACL STS", "SICK-R", "delta"), "value"] == 0.77
    assert frame.loc[("table_B1", "MACL", "65536", "delta_top1"), "value"] == 1.10


def exact(node) -> list[Decimal]:
    return [Decimal(str(number)) for number in printed(node)]


def at(path: str, paper: str):
    """The node at table[/version]/row/key/..., or at paper:... in another paper's file."""
    if ":" in path:
        paper, path = path.split(":")
    node = papers.load(paper, "published")["tables"]
    for key in path.split("/"):
        node = next(row for row in node["rows"] if row["id"] == key) if "rows" in node else node[key]
    return node


def mean(term, paper: str) -> Decimal:
    values = exact(at(term, paper) if isinstance(term, str) else term)
    return sum(values) / len(values)


def leaves(node, path=()) -> dict[tuple, Decimal]:
    if isinstance(node, dict):
        return {p: n for key, child in node.items() for p, n in leaves(child, (*path, str(key))).items()}
    return {path: Decimal(str(node))} if isinstance(node, int | float) else {}


def half(decimals: int) -> Decimal:
    return Decimal(1).scaleb(-decimals) / 2


def filled(check: dict, variables: dict):
    """The check once for every value of its variables."""
    for values in product(*variables.values()):
        names = dict(zip(variables, values, strict=True))
        yield {key: text.format(**names) if isinstance(text, str) else text for key, text in check.items()}


def inconsistencies(paper: str):
    """The ids of averages, differences and ranges of the paper that its own cells contradict."""
    for name, table in papers.published_tables(paper).items():
        version = table.get("version")
        full = f"{name.removesuffix(f'_{version}')}/{version}" if version else name
        rows = {row["id"]: row for row in table["rows"]}
        for row in table["rows"]:
            average = table.get("average", {})
            average = average[row["columns"]] if average and "columns" in row else average
            for kind, slack in (("values", 1), ("delta", 2)) if average else ():
                parts = [(row.get(kind) or {}).get(column) for column in average["of"]]
                if None in parts:
                    continue
                digits = table.get("delta_decimals", table["decimals"]) if kind == "delta" else table["decimals"]
                off = abs(sum(map(Decimal, map(str, parts))) / len(parts) - Decimal(str(row[kind]["Avg"])))
                if off > slack * half(digits):
                    yield f"{full}/{row['id']}/average of {kind}"
            for column, delta in row.get("delta", {}).items() if "baseline" in row else ():
                below = rows[row["baseline"]]["values"][column]
                if exact(delta) != [a - b for a, b in zip(exact(row["values"][column]), exact(below), strict=True)]:
                    yield f"{full}/{row['id']}/delta/{column}"
    checks = papers.load(paper, "published")["checks"]
    for check in (one for part in checks.get("same", []) for one in filled(part, part.get("for", {}))):
        a, b = leaves(at(check["a"], paper)), leaves(at(check["b"], paper))
        assert a.keys() & b.keys(), check["id"]
        if any(a[key] != b[key] for key in a.keys() & b.keys()):
            yield check["id"]
    for check in (one for part in checks.get("differences", []) for one in filled(part, part.get("for", {}))):
        computed = mean(check["plus"], paper) - (mean(check["minus"], paper) if "minus" in check else 0)
        if abs(computed - mean(check["stated"], paper)) > half(check["decimals"]):
            yield check["id"]
    for check in checks.get("ranges", []):
        found = [mean(one["plus"], paper) - mean(one["minus"], paper) for one in filled(check, check["over"])]
        ends = zip((min(found), max(found)), check["stated"], strict=True)
        if any(abs(value - Decimal(str(end))) > half(check["decimals"]) for value, end in ends):
            yield check["id"]


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_printed_averages_and_differences_recompute_but_for_the_listed_inconsistencies(paper):
    listed = [entry["id"] for entry in papers.load(paper, "errata").get("known_inconsistencies", [])]
    assert sorted(inconsistencies(paper)) == sorted(listed)


def test_what_errata_doubt_are_cells():
    catalogue = Catalogue(configuration.load("demo"))
    addresses = ["/".join(key[1:]) for key in catalogue.cells]
    for paper in papers.paper_keys():
        for pattern, why in papers.doubtful(paper):
            prefix = pattern.removesuffix("*")
            assert any(address.startswith(prefix) for address in addresses), pattern
            assert why
