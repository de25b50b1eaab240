"""Make a sentence encoder ready: weights, tokenizer, and the corpus tokenised for it."""

from pathlib import Path

from clrepro.console import say
from clrepro.modalities.sentence import corpus
from clrepro.modalities.sentence.build import SentenceBuild
from clrepro.paths import STATE, digest, make_link, read_json, write_json
from clrepro.settings import Common
from clrepro.sources.source import source
from clrepro.training.alone import alone
from clrepro.training.float32 import choose_arithmetic
from clrepro.workflow import fingerprint


def prepare(build: SentenceBuild, config: Common) -> None:
    """Write tokens.json and backbone.json in the build's folder, each behind what it names."""
    import torch

    from clrepro.modalities.sentence import backbone

    torch.set_num_threads(config.jobs.threads)
    section = config.sentence
    text = Path(read_json(source(section.corpus).record)["path"])
    every = corpus.read_sentences(text, section.blank_lines)
    sentences = corpus.select(every, section.corpus_lines)
    if build.spec["kind"] == "scratch":
        path = build.folder / "model"
        lines = build.spec.get("mlm_lines")
        learned = corpus.select(every, None if lines == "all" else lines) if lines else sentences
        tokenizer = backbone.make_tokenizer(learned, build.spec["vocabulary"])
        corpus.tokenise(sentences, tokenizer, build.max_length, build.folder)
        about = pretrained(build, tokenizer, learned if lines else None, config)
    else:
        path = Path(read_json(build.weights.record)["path"]) if build.weights else build.folder / "weights"
        if not build.weights:  # records name the link, not where on this machine it leads
            build.folder.mkdir(parents=True, exist_ok=True)
            make_link(Path(build.spec["path"]), path)
        corpus.tokenise(sentences, backbone.load_tokenizer(path), build.max_length, build.folder)
        about = {}
    write_json(build.folder / "backbone.json", {**backbone.describe(path), **about})
    say(f"{build.key}: ready in {build.folder}, {len(sentences):,} sentences tokenised")


def pretrained(build: SentenceBuild, tokenizer, sentences: list[str] | None, config: Common) -> dict:
    """Pre-train an encoder and link it into the build's folder; what its record says of that.

    sentences: those that it learns from; None: those of the build. What is finished lies among the trainings' states
    and stays there: a build that is made again only links it.
    """
    from clrepro.modalities.sentence import backbone
    from clrepro.training import saved
    from clrepro.training.export import link_folder
    from clrepro.training.loop import StopFlag

    choose_arithmetic(config)
    folder = build.folder
    if sentences is not None:
        folder = build.folder / "pretraining"
        corpus.tokenise(sentences, tokenizer, build.max_length, folder)
    code = fingerprint.of_modules(("clrepro.modalities.sentence.backbone",))
    made = STATE / build.scale / f"backbone-{digest([build.spec, read_json(folder / 'tokens.json')['sha256'], code])}"
    with StopFlag() as stop, alone(made, stop):  # another build may begin with the same weights
        if not (made / "record.json").exists():
            tokens = corpus.TokenisedCorpus(folder)
            about = backbone.make_scratch(build.spec, tokenizer, tokens, made / "model", stop, config.device)
            write_json(made / "record.json", {"pretraining": about} if about else {})
            saved.finish(made)
    link_folder(made / "model", build.folder / "model")
    return read_json(made / "record.json")
