"""Maps over two angles: from a grid to long form and back, and remarks below a figure."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from clrepro import plotting
from clrepro.errors import UserError


def axis(settings: dict, name: str) -> np.ndarray:
    """Equally spaced angles in radians, both ends included: settings[name] = [first, last] in units of pi."""
    first, last = settings[name]
    if not 0 < first < last <= 1:
        raise UserError(
            f"{name}: [{first}, {last}] must be two growing multiples of π in (0, 1]; set it in experiments.yaml"
        )
    return np.pi * np.linspace(first, last, settings["points"])


def long_form(y: tuple[str, np.ndarray], x: tuple[str, np.ndarray], **values) -> pd.DataFrame:
    """One line per cell; y and x are (name, centres), each value is a (len(y), len(x)) array or one value for all."""
    rows, columns = np.meshgrid(y[1], x[1], indexing="ij")
    cells = {y[0]: rows, x[0]: columns, **values}
    return pd.DataFrame({name: np.broadcast_to(value, rows.shape).ravel() for name, value in cells.items()})


def grid(frame: pd.DataFrame, y: str, x: str, value: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The centres along x and y, and the values (len(y), len(x)), of one map in long form."""
    table = frame.pivot(index=y, columns=x, values=value)
    return table.columns.to_numpy(), table.index.to_numpy(), table.to_numpy()


def footnote(figure: Figure, settings: dict, *remarks: str) -> None:
    """What the workflow says of the figure, then our remarks."""
    plotting.footnote(figure, " ".join(filter(None, [settings.get("footnote", ""), *remarks])))
