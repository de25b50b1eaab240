"""Numbers as they are printed."""

import html as markup
import re
from fractions import Fraction

import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clrepro.report import assemble, common, latex, page, tables


@given(st.floats(-1e6, 1e6), st.integers(0, 6), st.booleans())
@example(62.25, 1, False)  # halfway: away from zero, as JavaScript does
@example(-0.04, 1, True)
def test_a_number_is_the_nearest_with_the_papers_digits(value, decimals, sign):
    text = common.number(value, decimals, sign)
    assert re.fullmatch(r"[+-]?\d+" + (rf"\.\d{{{decimals}}}" if decimals else ""), text)
    unit = Fraction(1, 10**decimals)
    assert abs(Fraction(text) - Fraction(value)) <= unit / 2
    if abs(Fraction(text) - Fraction(value)) == unit / 2:
        assert abs(Fraction(text)) > abs(Fraction(value))
    assert text.startswith("-") == (Fraction(text) < 0)
    assert text.startswith("+") == (sign and Fraction(text) > 0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.floats(0, 100)] * 4), min_size=2, max_size=4), st.integers(0, 4))
@example([(62.456, 62.5, 0.25, 1.05)] * 2, 1)
def test_a_tables_numbers_are_rounded_alike_in_every_format(numbers, decimals):
    same = {"paper": "nie2023", "table": "table_1", "kind": "results", "column": "A", "metric": "value", "seeds": 2}
    none = {**dict.fromkeys(("ci_low", "ci_high", "difference")), **dict.fromkeys(("note", "fill", "runs"), "")}
    names = ("ours", "ours_std", "published", "published_std")
    long = pd.DataFrame(
        {**same, **none, "row": f"row{place}", "decimals": decimals, "verdict": "not comparable"}
        | dict(zip(names, values, strict=True))
        for place, values in enumerate(numbers)
    )
    table = {"id": "table_1", "caption": "A table", "parts": [assemble.block(long)]}
    whole = page.render({"papers": [{"key": "nie2023", "title": "A paper", "tables": [table]}]})
    formats = {
        "md": tables.markdown(long, ["A table"]).partition("Ours ±")[0],
        "tex": latex.table([long], ["A table"], "label"),
        "html": tables.grid(long),
        "page": re.search(r'<table class="result.*?</table>', whole, re.S)[0],
        "cli": tables.text(long),
    }
    for name, text in formats.items():
        bare = markup.unescape(re.sub("<[^>]+>", " ", text)).partition("Row")[2 if name == "page" else 0]
        shown = [values[: 2 if name == "cli" else 4] for values in numbers]  # a terminal has ours alone
        expected = [common.number(value, decimals) for values in shown for value in values]
        assert re.findall(r"(?<![\w.])\d+(?:\.\d+)?", bare) == expected, name
