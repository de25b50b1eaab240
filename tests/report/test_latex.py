"""The LaTeX of every table."""

import re
from collections import Counter

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.report import latex, tables
from tests.finished import finished_table


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return finished_table()


def test_the_latex_of_every_table_is_balanced_ascii(results, tmp_path):
    every = Catalogue(configuration.load("demo")).every_table
    assert len(every) == 29
    for table in every:
        tables.write(results, table)
        text = (results.files.table_folder(table) / f"{table.name}.tex").read_text()
        assert text.isascii()
        opened = Counter(re.findall(r"\\begin\{(\w+)\}", text))
        assert opened == Counter(re.findall(r"\\end\{(\w+)\}", text))
        assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == opened["tabular"]
        unescaped = re.sub(r"\\[{}]", "", text)
        assert unescaped.count("{") == unescaped.count("}")
        for part in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.S):
            lines = [line for line in part[1].splitlines() if line.endswith("\\\\")]
            # each line fills the columns; a multicolumn counts for all that it spans
            for line in lines:
                spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
                assert len(re.findall(r"(?<!\\)&", line)) + spans == len(part[0]) - 1, line
    assert latex.escaped("50% of a_b & {τ} [x]") == "50\\% of a\\_b \\& \\{$\\tau$\\} {[}x{]}"
