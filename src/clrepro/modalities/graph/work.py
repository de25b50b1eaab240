"""What is done with graph encoders; imports of torch stay inside, where the work needs them."""

from pathlib import Path
from typing import Any

from clrepro.modalities.graph.molecules.build import MoleculeBuild
from clrepro.modalities.run import Run
from clrepro.paths import read_json
from clrepro.settings import Common


def inputs_digest(run: Run, config: Common) -> str:
    """What a training read, by content: the graphs or molecules."""
    return read_json(run.backbone.records[0])["sha256"]


def train(run: Run, config: Common, state: Path, stop: Any) -> dict | None:
    """One training, its last checkpoint; see `workload.train_encoder`."""
    from clrepro.modalities.graph.workload import train_encoder
    from clrepro.objectives import make

    objective = make(run.objective, run.variant, **run.params)
    settings = run.recipe.model_dump()
    place = {"device": config.device, "state": state, "stop": stop, "title": f"{run.backbone.key} {objective}"}
    result = train_encoder(lambda: workload(run, settings), objective, settings, run.seed, **place)
    if result is not None:
        del result["best_score"]  # nothing was selected: the last checkpoint is the result
    return result


def workload(run: Run, settings: dict[str, Any]) -> Any:
    """What a run trains on, with the encoder that it trains."""
    encoder, folder = run.backbone.identity, run.backbone.folder
    if isinstance(run.backbone, MoleculeBuild):
        from clrepro.modalities.graph.molecules import storage
        from clrepro.modalities.graph.molecules.training import MoleculeWorkload

        return MoleculeWorkload(storage.load(folder), encoder, settings, run.seed)
    from clrepro.modalities.graph import graph_sets
    from clrepro.modalities.graph.training import GraphWorkload, as_seen

    return GraphWorkload(as_seen(graph_sets.load(folder), run.recipe.behaviour), encoder, settings, run.seed)


def said(result: dict) -> str:
    """The outcome of a training in a line."""
    return result["diverged"]["cause"] if "diverged" in result else f"{result['steps']} steps"


def kept_steps(run: Run, steps: int) -> list[int]:
    """No checkpoint is kept besides the last one."""
    return []


def record_untrained(run: Run, config: Common) -> dict:
    """The record of random weights, drawn by the run's seed as a training would begin, which it writes as well."""
    from clrepro.modalities.graph.encoder import GIN
    from clrepro.modalities.graph.molecules.encoder import MoleculeEncoder
    from clrepro.modalities.graph.weights import save
    from clrepro.training.export import model_entry
    from clrepro.training.loop import seed_everything

    seed_everything(run.seed)
    spec = run.backbone.identity
    if isinstance(run.backbone, MoleculeBuild):
        encoder = MoleculeEncoder(spec["width"], spec["layers"])
    else:
        encoder = GIN(run.backbone.source.graphs["width"], spec["width"], spec["layers"])
    folder = run.folder / "model"
    save(encoder, folder)
    model = model_entry(folder, folder)
    return {"identity": run.identity, "seed": run.seed, "code": run.code, "model": model, "steps": 0}


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    from clrepro.modalities.graph.embedding import embed as embed_all

    embed_all(runs, config, folder)


def load(run: Run, config: Common, file: Path, uses_gpu: bool) -> Any:
    from clrepro.modalities.graph.stored import load as load_stored

    return load_stored(run, config, file, uses_gpu)
