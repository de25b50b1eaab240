"""The layout of image sets that are folders: <split>/<class>/<image>."""

from pathlib import Path

from clrepro.errors import UserError

FOLDERS = {"train": ("train",), "test": ("val", "test")}


def split_root(source: Path, split: str) -> Path:
    for name in FOLDERS[split]:
        if (source / name).is_dir():
            return source / name
    raise UserError(f"{source} has no folder {' or '.join(FOLDERS[split])}: expected <split>/<class>/<image>")


def class_folders(root: Path) -> list[str]:
    names = sorted(path.name for path in root.iterdir() if path.is_dir())
    if not names:
        raise UserError(f"{root} has no class folders: sort the images into <class>/<image> first")
    return names
