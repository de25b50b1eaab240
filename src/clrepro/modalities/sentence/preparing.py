"""Make a sentence encoder ready: weights, tokenizer, and the corpus tokenised for it."""

from pathlib import Path

from clrepro.console import say
from clrepro.modalities.sentence import corpus
from clrepro.modalities.sentence.build import SentenceBuild
from clrepro.paths import make_link, read_json, write_json
from clrepro.settings import Common
from clrepro.sources.source import source


def prepare(build: SentenceBuild, config: Common) -> None:
    """Write tokens.json and backbone.json in the build's folder, each behind what it names."""
    import torch

    from clrepro.modalities.sentence import backbone

    torch.set_num_threads(config.jobs.threads)
    section = config.sentence
    text = Path(read_json(source(section.corpus).record)["path"])
    sentences = corpus.select(corpus.read_sentences(text, section.blank_lines), section.corpus_lines)
    if build.spec["kind"] == "scratch":
        path = build.folder / "model"
        tokenizer = backbone.make_tokenizer(sentences, build.spec["vocabulary"])
        corpus.tokenise(sentences, tokenizer, build.max_length, build.folder)
        backbone.make_scratch(build.spec, tokenizer, corpus.TokenisedCorpus(build.folder), path, say)
    else:
        path = Path(read_json(build.weights.record)["path"]) if build.weights else build.folder / "weights"
        if not build.weights:  # records name the link, not where on this machine it leads
            build.folder.mkdir(parents=True, exist_ok=True)
            make_link(Path(build.spec["path"]), path)
        corpus.tokenise(sentences, backbone.load_tokenizer(path), build.max_length, build.folder)
    write_json(build.folder / "backbone.json", backbone.describe(path))
    say(f"{build.key}: ready in {build.folder}, {len(sentences):,} sentences tokenised")
