"""Models of the Hugging Face hub: what is said before one is downloaded, and which commit of it was loaded."""

from pathlib import Path, PurePosixPath

from clrepro.console import say

LOADED = {".safetensors", ".json", ".txt", ".model"}  # weights, configuration, vocabulary


def commit(name: str) -> str | None:
    """The commit of the model in the hub's cache; None where it is not there."""
    from huggingface_hub import try_to_load_from_cache

    file = try_to_load_from_cache(name, "config.json")
    return Path(file).parent.name if isinstance(file, str) else None


def announce(name: str) -> None:
    """Say size, licence and commit of a model that is about to be downloaded; nothing if it was, or cannot be asked."""
    from huggingface_hub import HfApi, constants

    if constants.HF_HUB_OFFLINE or commit(name):
        return
    try:
        about = HfApi().model_info(name, files_metadata=True)
    except Exception:  # whatever is wrong, loading the model says it
        return
    files = [(PurePosixPath(file.rfilename), file.size or 0) for file in about.siblings or ()]
    names = {file.suffix for file, _ in files}
    wanted = LOADED if ".safetensors" in names else {*LOADED, ".bin"}
    megabytes = sum(size for file, size in files if file.suffix in wanted and "onnx" not in file.parts) / 1e6
    licences = [tag.removeprefix("license:") for tag in about.tags or () if tag.startswith("license:")]
    say(f"{name}: about {megabytes:,.0f} MB from the model hub, commit {about.sha}")
    say(f"  licence: {', '.join(licences) or 'not stated'}")
