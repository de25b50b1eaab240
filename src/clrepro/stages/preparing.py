"""Fetch sources, then make backbones, tokenised corpora and image sets from them."""

from pathlib import Path

from clrepro.catalogue import Catalogue
from clrepro.catalogue.detection import DetectionBuild
from clrepro.catalogue.runs import BackboneBuild, ImageBuild, digest
from clrepro.modalities.sentence import corpus
from clrepro.paths import read_json, write_json
from clrepro.sources import fetch as fetching
from clrepro.sources.source import Source
from clrepro.stages.common import say


def fetch(catalogue: Catalogue, source: Source) -> None:
    """Bring a source to its folder: generated, from the mirror, or from its url."""
    if source.kind == "generated":
        from clrepro.demo.generate import generate

        generate(source)
    else:
        fetching.fetch(source, catalogue.config.mirror)


def prepare(catalogue: Catalogue, build: BackboneBuild | ImageBuild | DetectionBuild) -> None:
    """Tokenise the training corpus for a backbone and make the backbone itself ready; or images."""
    if isinstance(build, DetectionBuild):
        return prepare_detection(build)
    if isinstance(build, ImageBuild):
        return prepare_images(build)
    import torch

    from clrepro.modalities.sentence import backbone

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
        path = Path(read_json(build.weights.record)["path"]) if build.weights else build.folder / "weights"
        if not build.weights:  # records name the link, not where on this machine it leads
            build.folder.mkdir(parents=True, exist_ok=True)
            fetching.make_link(Path(build.spec["path"]), path)
        corpus.tokenise(sentences, backbone.load_tokenizer(path), build.max_length, build.folder)
    write_json(build.folder / "backbone.json", backbone.describe(path))
    say(f"{build.key}: ready in {build.folder}, {len(sentences):,} sentences tokenised")


def prepare_detection(build: DetectionBuild) -> None:
    """Index images with boxes."""
    from clrepro.modalities.image.detection import boxes

    raw = {source.name: read_json(source.record) for source in build.sources}

    def part(source: Source) -> boxes.Part:
        return Path(raw[source.name]["path"]), source.boxes["split"], source.boxes["images"]

    splits = boxes.prepare([part(source) for source in build.train], [part(build.test)], build.folder)
    # the index names images, whose content the archives' sha256 stands for
    record = {"splits": splits, "archives": {name: fetched["sha256"] for name, fetched in raw.items()}}
    write_json(build.folder / "record.json", {**record, "sha256": digest(record)})
    counts = ", ".join(f"{entry['images']:,} {split} images" for split, entry in splits.items())
    say(f"ready in {build.folder}: {counts}")


def prepare_images(build: ImageBuild) -> None:
    """Decode an image set into arrays, or index it."""
    from clrepro.modalities.image import files, image_sets

    about, raw = build.source.images, read_json(build.source.record)
    subset: dict = {}
    if about["kind"] == "image-folder":
        counts = {split: about[split] for split in image_sets.SPLITS}
        subset = {"side": about["side"], "counts": counts}
        if build.spec["classes"]:
            subset = {"side": about["side"], "class_ids": files.imagenet100()}
    path = None if build.source.kind == "generated" else Path(raw["path"])
    record = image_sets.prepare(path, about["kind"], build.folder, **subset)
    write_json(build.folder / "record.json", {**record, "sha256": digest(record)})
    counts = ", ".join(f"{part['examples']:,} {split}" for split, part in record["splits"].items())
    say(f"{build.source.name}: ready in {build.folder}, {counts} images")
