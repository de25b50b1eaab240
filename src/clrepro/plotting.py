"""One look for all figures, and files that are the same bytes for the same numbers."""

import textwrap
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from PIL import Image

from clrepro.paths import replacing

STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(
        color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666"]  # Okabe and Ito
    ),
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "clrepro",
    "figure.dpi": 100,
    "savefig.dpi": 150,
}
COLOURS = "viridis"
PI_TICKS = {np.pi / 20: "π/20", np.pi / 4: "π/4", np.pi / 2: "π/2", 3 * np.pi / 4: "3π/4", np.pi: "π"}


def style() -> AbstractContextManager:
    """The look, while a figure is drawn: ``with style(): ...``; matplotlib's own settings come back afterwards."""
    return matplotlib.rc_context(STYLE)


def new(rows: int = 1, columns: int = 1, width: float = 3.2, height: float = 2.7) -> tuple[Figure, np.ndarray]:
    """An empty figure and its panels, (rows, columns); width and height in inches a panel."""
    figure = Figure(figsize=(width * columns, height * rows + 0.3), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def heat(
    axis: Axes,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    *,
    low: float | None = None,
    high: float | None = None,
    colours: str = COLOURS,
    levels: int | None = None,
    bar: bool = True,
):
    """A heat map of values (len(y), len(x)) at cell centres x, y, in radians; missing values stay white."""
    palette = matplotlib.colormaps[colours]
    if levels:
        palette = ListedColormap(palette(np.linspace(0, 1, levels)))
    drawn = axis.pcolormesh(
        x, y, np.ma.masked_invalid(values), norm=Normalize(low, high), cmap=palette, shading="nearest", rasterized=True
    )
    for ticks, set_ticks, limits in ((x, axis.set_xticks, axis.set_xlim), (y, axis.set_yticks, axis.set_ylim)):
        shown = {place: text for place, text in PI_TICKS.items() if ticks.min() - 0.01 <= place <= ticks.max() + 0.01}
        set_ticks(list(shown), list(shown.values()))
        limits(ticks.min(), ticks.max())
    if bar:
        axis.figure.colorbar(drawn, ax=axis, shrink=0.9, pad=0.02)
    return drawn


def shade(axis: Axes, x: np.ndarray, y: np.ndarray, mask: np.ndarray, hatch: str | None = None) -> None:
    """Darken (or hatch) the cells where mask, (len(y), len(x)) bool, holds."""
    if not mask.any():
        return
    cover = np.ma.masked_where(~mask, np.ones(mask.shape))
    if hatch:
        axis.contourf(x, y, mask.astype(float), levels=[0.5, 1.5], colors="none", hatches=[hatch])
    else:
        axis.pcolormesh(x, y, cover, cmap=ListedColormap(["black"]), alpha=0.6, shading="nearest", rasterized=True)


def footnote(figure: Figure, text: str) -> None:
    """Lines below the panels, wrapped to their width: what was thinned, what a shading means."""
    if text:
        width = int(17 * figure.get_size_inches()[0])
        figure.supxlabel("\n".join(textwrap.wrap(text, width)), x=0.01, ha="left", fontsize=8, color="#555555")


def save_small(figure: Figure, file: Path) -> None:
    """A PNG for documentation: 85 dots an inch and a palette, about a third of the bytes."""
    buffer = BytesIO()
    figure.savefig(buffer, dpi=85, metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write stem.svg and stem.png, without dates, so that equal figures are equal files."""
    undated = {"svg": {"Date": None}, "png": {"Software": None}}
    files = [Path(f"{stem}.{suffix}") for suffix in undated]
    with style():
        for file, (suffix, metadata) in zip(files, undated.items(), strict=True):
            with replacing(file) as temporary:
                figure.savefig(temporary, format=suffix, metadata=metadata)
    return files
