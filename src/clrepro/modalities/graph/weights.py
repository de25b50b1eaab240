"""The files of an exported encoder: `model.safetensors`, and `config.json` with what makes it anew."""

import json
from collections.abc import Callable
from pathlib import Path

from torch import nn

from clrepro.errors import UserError

WEIGHTS, DESCRIPTION = "model.safetensors", "config.json"


def save(encoder: nn.Module, folder: Path) -> None:
    """encoder.description: the arguments that it was made with, and its `architecture`."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    state = {key: value.detach().cpu().contiguous() for key, value in encoder.state_dict().items()}
    save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
    lines = [f"from {type(encoder).__module__} import load", "from pathlib import Path", "model = load(Path('.'))"]
    (folder / DESCRIPTION).write_text(json.dumps({**encoder.description, "load": lines}, indent=1), "utf-8")


def load(make: Callable[..., nn.Module], folder: Path) -> nn.Module:
    """What `save` wrote, on the CPU, made by `make` from its description; UserError for a folder that holds none."""
    from safetensors.torch import load_file

    try:
        about = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        encoder = make(**{name: value for name, value in about.items() if name not in ("architecture", "load")})
        encoder.load_state_dict(load_file(folder / WEIGHTS))
    except Exception as failure:
        raise UserError(f"graph encoder: {folder} cannot be loaded ({failure}); export it again") from None
    return encoder
