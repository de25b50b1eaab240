"""Where things lie. Results, data and state are relative to the working directory, papers to the checkout."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "papers"
DATA = Path("data")
RESULTS = Path("results")
STATE = Path("state")


def read_json(path: Path) -> Any:
    return json.loads(Path(path).read_text("utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write by a temporary name and a rename, so that a reader never meets half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    os.replace(temporary, path)


def tree_sha256(folder: Path) -> str:
    """One sha256 for the names and contents of all files below a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()} {sha256(file)}\n".encode())
    return digest.hexdigest()


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
