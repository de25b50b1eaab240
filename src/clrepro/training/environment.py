"""The versions that a number may depend on."""

import platform
from functools import cache
from importlib.metadata import version

PACKAGES = ("torch", "transformers", "tokenizers", "accelerate", "numpy")


@cache
def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
