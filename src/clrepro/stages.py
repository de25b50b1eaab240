"""The stages of the workflow as functions: rules and the command line call the same ones.

Each takes the catalogue and the runs that share its job, reads what earlier stages recorded and writes records
last, so that a record vouches for what it names.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from clrepro import provenance
from clrepro.catalogue import Catalogue, Run
from clrepro.catalogue.runs import BackboneBuild, ImageBuild, digest
from clrepro.data import corpus
from clrepro.data import fetch as fetching
from clrepro.data.senteval import distinct_sentences
from clrepro.data.sources import Source
from clrepro.errors import Interrupted, UserError
from clrepro.paths import read_json, sha256, write_json

# the loops have progress bars of their own; transformers' loading reports would bury them
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fetch(catalogue: Catalogue, source: Source) -> None:
    """Bring a source to its folder: generated, from the mirror, or from its url."""
    if source.kind == "generated":
        from clrepro.data.generate import generate

        generate(source)
    else:
        fetching.fetch(source, catalogue.config.mirror)


def prepare(catalogue: Catalogue, build: BackboneBuild | ImageBuild) -> None:
    """Tokenise the training corpus for a backbone and make the backbone itself ready; or an image set."""
    if isinstance(build, ImageBuild):
        return prepare_images(build)
    import torch

    from clrepro.models import backbone

    torch.set_num_threads(catalogue.config.jobs.threads)
    sentence = catalogue.config.sentence
    text = Path(read_json(catalogue.corpus.record)["path"])
    sentences = corpus.select(corpus.read_sentences(text, sentence.blank_lines), sentence.corpus_lines)
    if build.spec["kind"] == "scratch":
        path = build.folder / "model"
        tokenizer = backbone.make_tokenizer(sentences, build.spec["vocabulary"])
        corpus.tokenise(sentences, tokenizer, build.max_length, build.folder)
        backbone.make_scratch(build.spec, tokenizer, corpus.TokenisedCorpus(build.folder), path, say)
    else:
        path = Path(read_json(build.weights.record)["path"] if build.weights else build.spec["path"])
        corpus.tokenise(sentences, backbone.load_tokenizer(path), build.max_length, build.folder)
    write_json(build.folder / "backbone.json", backbone.describe(path))
    say(f"{build.key}: ready in {build.folder}, {len(sentences):,} sentences tokenised")


def prepare_images(build: ImageBuild) -> None:
    """Decode an image set into arrays, or index it."""
    from clrepro.data import image_files, images

    about, raw = build.source.images, read_json(build.source.record)
    subset: dict = {}
    if about["kind"] == "image-folder":
        counts = {split: about[split] for split in images.SPLITS}
        subset = {"side": about["side"], "counts": counts}
        if build.spec["classes"]:
            subset = {"side": about["side"], "class_ids": image_files.imagenet100()}
    path = None if build.source.kind == "generated" else Path(raw["path"])
    record = images.prepare(path, about["kind"], build.folder, **subset)
    write_json(build.folder / "record.json", {**record, "sha256": digest(record)})
    counts = ", ".join(f"{part['examples']:,} {split}" for split, part in record["splits"].items())
    say(f"{build.source.name}: ready in {build.folder}, {counts} images")


def train(catalogue: Catalogue, runs: list[Run]) -> None:
    """Train what is not yet finished and export every run's record, probes and model.

    Of several processes that train together only the first one writes.
    """
    import torch

    from clrepro.training.loop import StopFlag

    torch.set_num_threads(catalogue.config.jobs.threads)
    first = is_first_process()
    with StopFlag() as stop:
        for number, run in enumerate(runs, 1):
            if first:
                say(f"[{number}/{len(runs)}] {run.folder}")
            if run.objective:
                state = finished_state(catalogue, run)
                record = None if (state / "record.json").exists() else train_one(catalogue, run, state, stop)
                if record:
                    write_json(state / "record.json", record)
                    (state / "progress.pt").unlink(missing_ok=True)
                if first:
                    export(state, run.folder)
            elif first:
                if run.recipe.held_out:
                    probe_untrained(catalogue, run)
                write_json(run.record, pretrained_record(run))
            if stop.requested and number < len(runs):
                raise Interrupted(f"stopped after run {number} of {len(runs)}; what is finished is kept")


def is_first_process() -> bool:
    """Whether this is the process that writes, of those that torchrun or accelerate started."""
    return os.environ.get("RANK", "0") == "0"


def wait_for(files: Iterable[Path]) -> None:
    """Wait until the first process has written what training reads; a launcher ends all if that one fails."""
    for file in files:
        while not file.exists():
            time.sleep(0.5)


def inputs_digest(catalogue: Catalogue, run: Run) -> str:
    """What a training read, by content: the backbone's weights, the tokens, the evaluation sets; or the images."""
    if run.modality == "image":
        return read_json(run.backbone.records[0])["sha256"]
    tokens, backbone = map(read_json, run.backbone.records)
    return digest([tokens["sha256"], backbone["sha256"], read_json(catalogue.tasks.record)["sha256"]])


def finished_state(catalogue: Catalogue, run: Run) -> Path:
    """The state folder of a run: of today's code, or, for an accepted stale run, of the code that finished it."""
    inputs = inputs_digest(catalogue, run)
    state = run.state(run.code, inputs)
    if not (state / "record.json").exists() and catalogue.accepts_stale(run):
        older = sorted(state.parent.glob(f"{run.state('*', inputs).name}/record.json"), key=os.path.getmtime)
        if older:
            return older[-1].parent
    return state


def pretrained_record(run: Run) -> dict:
    """The record of weights that need no training."""
    weights = read_json(run.backbone.records[1])
    model = {"path": weights["path"], "sha256": weights["sha256"]}
    return {
        "identity": run.identity,
        "seed": None,
        "code": run.code,
        "model": model,
        "steps": 0,
    }


def probe_untrained(catalogue: Catalogue, run: Run) -> None:
    """Statistics of an encoder before training, where a figure compares it with trained ones."""
    from clrepro.training.sentence import probe_encoder

    run.folder.mkdir(parents=True, exist_ok=True)
    settings = run.recipe.model_dump()
    probe_encoder(settings, **inputs(catalogue, run), file=run.folder / "probes.json")


def inputs(catalogue: Catalogue, run: Run) -> dict:
    """Where what a training reads lies, and the device it runs on."""
    return {
        "tokens": run.backbone.folder,
        "backbone": Path(read_json(run.backbone.records[1])["path"]),
        "tasks": Path(read_json(catalogue.tasks.record)["path"]),
        "device": catalogue.config.device,
    }


def train_one(catalogue: Catalogue, run: Run, state: Path, stop) -> dict | None:
    """One training; leaves the best checkpoint in state/best-<step> and returns the record, in the first process."""
    from clrepro.objectives import make
    from clrepro.training.progress import best_folder, checkpoint_folder

    if run.modality == "image":
        from clrepro.training.image import train_encoder

        read = {
            "data": run.backbone.folder,
            "encoder": run.backbone.encoder,
            "device": catalogue.config.device,
            "anchored": run.objective == "oar",
        }
    else:
        from clrepro.training.sentence import train_encoder

        read = inputs(catalogue, run)
    objective = make(run.objective, run.variant, **run.params)
    started, energy = time.perf_counter(), provenance.Energy()
    result = train_encoder(
        objective,
        run.recipe.model_dump(),
        run.seed,
        **read,
        state=state,
        stop=stop,
        title=f"{run.backbone.key} {objective}",
    )
    if result is None:
        return None
    seconds = time.perf_counter() - started
    if run.modality == "image":
        del result["best_score"]  # nothing was selected: the last checkpoint is the result
        best = result["diverged"]["cause"] if "diverged" in result else f"{result['steps']} steps"
    else:
        best = f"best STS-B dev {result['best_score']:.4f} at step {result['best_step']} of {result['steps']}"
    say(f"    {best}, {seconds:.1f} s")
    return {
        "identity": run.identity,
        "seed": run.seed,
        "code": run.code,
        "inputs": inputs_digest(catalogue, run),
        "model": model_entry(best_folder(state, result["best_step"]), run.folder / "model"),
        "checkpoints": [
            {"step": step, **model_entry(checkpoint_folder(state, step), checkpoint_folder(run.folder, step))}
            for step in kept_steps(run, result["steps"])
        ],
        **result,
        "seconds": round(seconds, 2),
        "energy_wh": energy.used(),
        "commit": provenance.commit(),
        "hardware": provenance.hardware(result["device"]),
        "environment": environment(),
    }


def kept_steps(run: Run, steps: int) -> list[int]:
    """The steps whose checkpoints are kept besides the best one."""
    every = run.recipe.checkpoint_every if run.modality == "sentence" else None
    return list(range(every, steps + 1, every)) if every else []


def model_entry(source: Path, target: Path) -> dict:
    """How a record names the model that lies in ``source`` and goes to ``target``."""
    weights = source / "model.safetensors"
    return {"path": str(target), "sha256": sha256(weights), "bytes": weights.stat().st_size}


@cache
def environment() -> dict[str, str]:
    """The versions that a number may depend on."""
    import platform
    from importlib.metadata import version

    packages = ("torch", "transformers", "tokenizers", "accelerate", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def export(state: Path, folder: Path) -> None:
    """Hard-link a finished run's models, probes and record into the results (copies across file systems)."""
    from clrepro.training.progress import best_folder, checkpoint_folder

    folder.mkdir(parents=True, exist_ok=True)
    record = read_json(state / "record.json")
    link_folder(best_folder(state, record["best_step"]), folder / "model")
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    for entry in record.get("checkpoints", []):
        link_folder(checkpoint_folder(state, entry["step"]), checkpoint_folder(folder, entry["step"]))
    if (state / "probes.json").exists():
        link_file(state / "probes.json", folder / "probes.json")
    else:  # an accepted stale run of code that recorded none
        write_json(folder / "probes.json", {"rows": [], "histograms": [], "settings": {}})
    link_file(state / "record.json", folder / "record.json")


def link_folder(source: Path, target: Path) -> None:
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh, copy_function=link)
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)


def link_file(source: Path, target: Path) -> None:
    temporary = target.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    link(source, temporary)
    os.replace(temporary, target)


def link(source: str | Path, target: str | Path) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return str(target)


def embed(catalogue: Catalogue, runs: list[Run]) -> None:
    """Embed every distinct test sentence once per checkpoint; (n, D) float32, with the sentences' digest."""
    if runs[0].modality == "image":
        return embed_images(catalogue, runs)
    import torch
    from transformers import AutoTokenizer

    from clrepro.evaluation.embed import embed as embed_tokens
    from clrepro.evaluation.embed import tokenise_for_embedding
    from clrepro.models.sentence import SentenceEncoder
    from clrepro.training.loop import choose_device

    torch.set_num_threads(catalogue.config.jobs.threads)
    device = choose_device(catalogue.config.device)
    sentences = distinct_sentences(Path(read_json(catalogue.tasks.record)["path"]))
    tokens: dict[Path, list] = {}
    for number, run in enumerate(runs, 1):
        model = SentenceEncoder(checked_model(run), run.recipe.pooling)
        if run.backbone.folder not in tokens:
            tokenizer = AutoTokenizer.from_pretrained(read_json(run.backbone.records[1])["path"])
            tokens[run.backbone.folder] = tokenise_for_embedding(model, tokenizer, sentences)
        say(f"[{number}/{len(runs)}] {run.folder}: {len(sentences):,} sentences")
        vectors = embed_tokens(model.to(device), tokens[run.backbone.folder], device, title=run.slug)
        if not np.isfinite(vectors).all():
            raise UserError(f"{run.folder}: the embeddings are not finite; the checkpoint is broken")
        np.savez(run.folder / "embeddings.npz", vectors=vectors, sentences=digest(sentences))


def embed_images(catalogue: Catalogue, runs: list[Run]) -> None:
    """Features of both splits once per checkpoint, (n, D) float32; not a number after a training that diverged."""
    import torch

    from clrepro.data import images
    from clrepro.evaluation.image_features import embed as embed_split
    from clrepro.evaluation.image_features import recipe_of_tests
    from clrepro.models.image import load
    from clrepro.training.loop import choose_device

    torch.set_num_threads(catalogue.config.jobs.threads)
    device = choose_device(catalogue.config.device)
    for number, run in enumerate(runs, 1):
        encoder = load(checked_model(run))
        recipe = recipe_of_tests(run.recipe.augmentation, run.backbone.encoder)
        say(f"[{number}/{len(runs)}] {run.folder}")
        features = {
            split: embed_split(encoder, images.load(run.backbone.folder / split), recipe, device)
            for split in images.SPLITS
        }
        if "diverged" in read_json(run.record):
            features = {split: np.full_like(part, np.nan) for split, part in features.items()}
        elif not all(np.isfinite(part).all() for part in features.values()):
            raise UserError(f"{run.folder}: the features are not finite; the checkpoint is broken")
        np.savez(run.folder / "features.npz", images=inputs_digest(catalogue, run), **features)


def probe_images(catalogue: Catalogue, runs: list[Run]) -> None:
    """Probe stored features, as far as tables and figures ask, and write rows [task, split, metric, value]."""
    import torch

    from clrepro.data import images
    from clrepro.data.augment import Recipe
    from clrepro.evaluation.image_features import augmented, recipe_of_tests
    from clrepro.evaluation.image_probes import Features, rows
    from clrepro.models.image import load
    from clrepro.training.loop import choose_device

    torch.set_num_threads(1)
    for number, run in enumerate(runs, 1):
        file = run.folder / "features.npz"
        with np.load(file) as stored:
            if stored["images"] != inputs_digest(catalogue, run):
                raise UserError(f"{file} holds features of other images than today's; delete it and embed again")
            vectors = {split: stored[split] for split in images.SPLITS}
        sets = {split: images.load(run.backbone.folder / split) for split in images.SPLITS}
        labels = {split: part.labels for split, part in sets.items()}
        shown = recipe_of_tests(run.recipe.augmentation, run.backbone.encoder)
        device = choose_device(catalogue.config.device) if run.augments_probes else torch.device("cpu")

        def batches(name: str, size: int, run=run, train=sets["train"], shown=shown, device=device):
            recipe = Recipe(name, shown.output_side(*train.images.shape[2:]), shown.statistics)
            return augmented(load(checked_model(run)), train, recipe, size, device)

        features = Features(vectors["train"], labels["train"], vectors["test"], labels["test"], batches, device)
        kinds = catalogue.kinds(run)
        for name in catalogue.results(run):
            content = {"protocol": run.evaluation, "rows": rows(name, features, run.evaluation, kinds)}
            write_json(run.folder / name, content)
        say(f"[{number}/{len(runs)}] {run.folder}: {', '.join(catalogue.results(run))}")


def checked_model(run: Run) -> Path:
    """The folder of a run's model, if its weights are still those of the record."""
    model = read_json(run.record)["model"]
    weights = Path(model["path"]) / "model.safetensors"
    if not weights.is_file() or sha256(weights) != model["sha256"]:
        state = "does not match the sha256 in" if weights.is_file() else "is missing, but named by"
        raise UserError(f"{weights} {state} {run.record}; delete that record to make the run again")
    return weights.parent


def sts(catalogue: Catalogue, runs: list[Run]) -> None:
    from clrepro.evaluation.sts import evaluate_sts

    probe(catalogue, runs, "sts.json", evaluate_sts)


def transfer(catalogue: Catalogue, runs: list[Run]) -> None:
    from clrepro.evaluation.transfer import evaluate_transfer

    probe(catalogue, runs, "transfer.json", evaluate_transfer, catalogue.config.sentence.protocol)


def probe(catalogue: Catalogue, runs: list[Run], name: str, evaluate, *settings: str) -> None:
    """Evaluate stored embeddings and write the rows [task, split, metric, value]."""
    root = Path(read_json(catalogue.tasks.record)["path"])
    sentences = distinct_sentences(root)
    for number, run in enumerate(runs, 1):
        file = run.folder / "embeddings.npz"
        with np.load(file) as stored:
            if stored["sentences"] != digest(sentences):
                raise UserError(f"{file} holds vectors of other sentences than today's; delete it and embed again")
            vectors = stored["vectors"]
        rows = [[*row[:3], round(row[3], 6)] for row in evaluate(vectors, sentences, root, *settings)]
        write_json(run.folder / name, {"tasks": catalogue.tasks.identity, "protocol": list(settings), "rows": rows})
        say(f"[{number}/{len(runs)}] {run.folder / name}")
