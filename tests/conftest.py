import os

import pytest
import torch

from tests.stop import Stop

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def demo_tasks(tmp_path_factory):
    """The generated evaluation sets."""
    from clrepro.demo.sentences import write_senteval

    root = tmp_path_factory.mktemp("senteval")
    write_senteval(root)
    return root


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A tiny backbone and its tokenised corpus: (folder with tokens, model folder, sentences)."""
    from clrepro.demo.sentences import write_corpus
    from clrepro.modalities.sentence import backbone, corpus

    folder = tmp_path_factory.mktemp("tiny")
    write_corpus(folder / "text.txt", 600)
    sentences = corpus.read_sentences(folder / "text.txt")
    spec = dict(layers=1, hidden_size=32, heads=2, intermediate_size=None, dropout=0.1, seed=0, mlm_epochs=0)
    tokenizer = backbone.make_tokenizer(sentences, 600)
    corpus.tokenise(sentences, tokenizer, 16, folder)
    backbone.make_scratch(spec, tokenizer, corpus.TokenisedCorpus(folder), folder / "model", Stop())
    return folder, folder / "model", sentences


def pytest_collection_modifyitems(items):
    """Files with end-to-end runs first: where processes share the files, the last to finish is a short one."""
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)
