"""The page of a finished demo, for check_demo.py: it repeats the ledger and the claims, and reads well."""

import json
import re
from collections.abc import Iterator
from functools import cache

from demo_numbers import RESULTS, frame

FIGURES = {
    "nie2023": [f"figure_{number}" for number in ("1a", "1b", "1c", "1d", "2a", "2b", "3a", "3b", "3c", "3d", "3e", 4)],
    "li2024": [f"figure_{number}" for number in (1, 2, 3, 4, 5, 6, 7, "8a", "8b", "8c", 9, 10, 11, 12)],
    "huang2023": ["figure_2", "figure_3", "figure_4", "graph_epochs"],
    "oar2024": ["table_2", "figure_2", "figure_3", "figure_4"],
}


@cache
def page() -> str:
    return (RESULTS / "report.html").read_text("utf-8")


def the_report_repeats_the_ledger() -> Iterator[str]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page(), re.S)
    if not found:
        yield "the report has no data"
        return
    data = json.loads(found[1])
    ledger, claims = frame("ledger.csv"), frame("claims.csv")
    numbers = {f"{row.paper}/{row.table}/{row.row}/{row.column}/{row.metric}": row for row in ledger.itertuples()}
    wrong = [
        name for name, cell in data["cells"].items()
        if name not in numbers or ("" if cell["ours"] is None else cell["ours"]) != (
            "" if numbers[name].ours == "" else float(numbers[name].ours)) or cell["verdict"] != numbers[name].verdict
    ]  # fmt: skip
    if wrong or len(data["cells"]) < 1300:
        yield f"{len(wrong)} of {len(data['cells'])} cells of the report are not the ledger's, as {wrong[:1]}"
    verdicts = {f"{row.paper}/{row.claim}": row.verdict for row in claims.itertuples()}
    if {one["id"]: one["verdict"] for one in data["claims"]} != verdicts:
        yield "the report's claims are not those of claims.csv"
    bad = {name: count for name, count in data["state"].items() if name != "left_out" and count}
    if bad:
        yield f"a fresh demo's report has {bad}"
    if len(data["runs"]) < 480:
        yield f"the report knows {len(data['runs'])} runs"


def the_report_reads_well() -> Iterator[str]:
    text = page()
    for tag in ("html", "head", "body", "main"):
        if text.count(f"</{tag}>") != 1:
            yield f"the report has {text.count(f'</{tag}>')} times </{tag}>"
    if 'class="problems"' in text:
        yield "the report opens with a box of problems"
    pictures = re.findall(r'<img[^>]+src="data:image/([a-z+]+);base64,([^"]+)"', text)
    expected = sum(map(len, FIGURES.values()))
    if len(pictures) != expected or any(len(content) < 2000 for _, content in pictures):
        yield f"the report has {len(pictures)} pictures, {expected} are drawn"
    for words in ("no number here is comparable", "trained", "regenerated"):
        if words not in text:
            yield f"the report does not say '{words}'"
    body = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    names = set(re.findall(r'\bid="([^"]+)"', body))
    dead = {one for one in re.findall(r'href="#([^"]+)"', body) if one not in names and "=" not in one}
    if dead:
        yield f"the report links to {len(dead)} places that are not there, as {sorted(dead)[:3]}"
    empty = [
        part for part in re.findall(r"<tbody[^>]*>(.*?)</tbody>", body, re.S) if not re.sub(r"<[^>]+>|\s", "", part)
    ]
    if empty:
        yield f"{len(empty)} tables of the report are empty"
