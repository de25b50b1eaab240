"""Corpora: what is wrong is refused with its line, what is right is read as it stands."""

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.modalities.sentence import corpus


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"one\n\ntwo\n  \n", "blank lines: 2, 4. Remove them, or set `sentence.blank_lines: keep`"),
        ("one\nna\u00efve\n".encode("latin-1"), "line 2: byte 0xef is not UTF-8. Convert"),
    ],
)
def test_a_bad_corpus_is_refused_with_the_line(tmp_path, content, message):
    file = tmp_path / "corpus.txt"
    file.write_bytes(content)
    with pytest.raises(UserError, match=message):
        corpus.read_sentences(file)


def test_a_corpus_is_read_as_it_stands(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_bytes("a\u2028b\n\nc".encode())  # a Unicode line separator is not a line's end
    assert corpus.read_sentences(file, "keep") == ["a\u2028b", "", "c"]


def test_selection_is_a_fixed_draw_and_cannot_exceed_the_corpus():
    sentences = [str(number) for number in range(100)]
    chosen = corpus.select(sentences, 10)
    assert chosen == corpus.select(sentences, 10)
    assert len(set(chosen)) == 10
    assert corpus.select(sentences, None) == sentences
    with pytest.raises(UserError, match="asks for 101 sentences, the corpus has 100"):
        corpus.select(sentences, 101)


def test_the_tokenised_file_gives_back_every_sentence_and_pads_to_the_longest(tiny):
    from transformers import AutoTokenizer

    folder, model, sentences = tiny
    tokenizer = AutoTokenizer.from_pretrained(model)
    stored = corpus.TokenisedCorpus(folder)
    expected = [tokenizer(s, truncation=True, max_length=16)["input_ids"] for s in sentences]
    assert len(stored) == len(sentences)
    picked = np.array([5, 0, 599, 17])
    ids, mask = stored.batch(picked)
    assert ids.shape == mask.shape == (4, max(len(expected[i]) for i in picked))
    for row, index in enumerate(picked):
        assert ids[row][mask[row] == 1].tolist() == expected[index]
        assert (ids[row][mask[row] == 0] == tokenizer.pad_token_id).all()
