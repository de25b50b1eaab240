"""The one exception that users meet, and the near matches that help them out of it."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Bad input. The message names the value, the place and the remedy; no traceback is shown for it."""


class Interrupted(Exception):
    """Work was asked to stop by a signal; what is done is saved and the next start continues."""

    EXIT_CODE = 75  # the convention for "try again"


EXTRAS = {"rdkit": "graphs"}  # which extra of clrepro installs a package that only some work needs


def not_installed(failure: ModuleNotFoundError) -> Exception:
    """The error for a package that an extra would install; any other failure as it is."""
    name = (failure.name or "").split(".")[0]
    return UserError(f"this needs {name}: pip install 'clrepro[{EXTRAS[name]}]'") if name in EXTRAS else failure


def unknown(kind: str, value: str, known: Iterable[str], place: str = "") -> UserError:
    """The error for a name that does not exist: with near matches, or else with all names."""
    names = sorted(known)
    near = get_close_matches(str(value), names, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(names) or 'none'}."
    return UserError(f"unknown {kind} '{value}'{f' in {place}' if place else ''}. {hint}")
