"""The generated pages of objectives."""

from clrepro.paths import ROOT
from clrepro.report import objective_pages


def test_the_generated_pages_are_in_step_with_the_code():
    folder = ROOT / "docs" / "objectives"
    written = {file.name: file.read_text("utf-8") for file in folder.glob("*.md")}
    assert written == objective_pages.pages(), "run `make docs`"
