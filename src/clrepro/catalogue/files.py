"""Which files a scale's tables, figures and reports are, below results/<scale>."""

from dataclasses import dataclass
from pathlib import Path

from clrepro.catalogue.figures import Figure
from clrepro.catalogue.tables import Table
from clrepro.paths import RESULTS

TABLE_SUFFIXES = ("csv", "md", "tex", "html")


@dataclass(frozen=True)
class Files:
    scale: str

    @property
    def root(self) -> Path:
        return RESULTS / self.scale

    def table_folder(self, table: Table) -> Path:
        return self.root / "tables" / table.paper

    def of_table(self, table: Table) -> list[Path]:
        return [self.table_folder(table) / f"{table.name}.{suffix}" for suffix in TABLE_SUFFIXES]

    def figure_csv(self, figure: Figure) -> Path:
        return self.root / "figures" / figure.paper / f"{figure.name}.csv"

    def of_figure(self, figure: Figure) -> list[Path]:
        """svg, png and csv, in a simulation's order; the csv alone where the configuration leaves it no points."""
        csv = self.figure_csv(figure)
        return [csv.with_suffix(".svg"), csv.with_suffix(".png"), csv] if figure.points else [csv]

    def grid(self, name: str) -> Path:
        return self.root / "grids" / f"{name.replace('@', '-')}.csv"

    @property
    def report(self) -> list[Path]:
        """The ledger, the claims, the numbers to compare, and the page."""
        names = ("{}/ledger.csv", "{}/claims.csv", "metrics/{}.json", "{}/report.html")
        return [RESULTS / name.format(self.scale) for name in names]

    @property
    def theory(self) -> list[Path]:
        return [self.root / f"theory.{suffix}" for suffix in ("csv", "md")]

    def manifest(self, stage: str, name: str) -> Path:
        """What a job that several runs share declares as its output."""
        return self.root / "manifests" / stage / f"{name}.json"
