"""Sources, corpora and evaluation sets: what is wrong is refused with its name, its place and the remedy."""

import io
import lzma
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clrepro.errors import UserError
from clrepro.evaluation.senteval import files
from clrepro.modalities.sentence import corpus
from clrepro.paths import read_json, sha256
from clrepro.sources import fetch
from clrepro.sources.source import source, sources


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


def test_the_vocabulary_depends_on_the_sentences_alone(tiny):
    from clrepro.modalities.sentence.backbone import SPECIAL, make_tokenizer

    _, _, sentences = tiny
    first, second = (make_tokenizer(sentences, 600) for _ in range(2))
    assert first.get_vocab() == second.get_vocab()
    assert first.convert_ids_to_tokens(range(5)) == SPECIAL
    assert first.tokenize("The weather") == second.tokenize("the WEATHER")
    assert first("the")["input_ids"][0] == first.cls_token_id


# fetching


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror with a packed text and an archive, and a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "text.txt.xz").write_bytes(lzma.compress(b"One sentence.\nAnother one.\n"))
    with tarfile.open(folder / "tasks.tar", "w") as archive:
        add(archive, "downstream/STS/readme.txt", b"x")
    return folder


def add(archive, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def text_source(mirror, **changes):
    right = sha256(mirror / "text.txt.xz")
    base = replace(source("wikipedia-sentences"), mirror="text.txt.xz", sha256=right)
    return replace(base, **changes)


def test_a_mirrored_file_is_verified_and_unpacked(mirror):
    wanted = text_source(mirror)
    fetch.fetch(wanted, str(mirror))
    record = read_json(wanted.record)
    assert Path(record["path"]).read_text() == "One sentence.\nAnother one.\n"
    assert record["sha256"] == wanted.sha256


def test_a_missing_mirror_or_file_is_named_before_anything_starts(mirror):
    wanted = replace(text_source(mirror), mirror="other.txt.xz")
    with pytest.raises(UserError, match=r"'.*other\.txt\.xz' is missing from the mirror"):
        wanted.check_reachable(str(mirror))
    with pytest.raises(UserError, match="set `mirror:` to a folder that holds other.txt.xz"):
        wanted.check_reachable(None)
    with pytest.raises(UserError, match="mirror: '/nowhere' is not a folder"):
        wanted.check_reachable("/nowhere")


def test_a_wrong_hash_names_both_and_leaves_no_record(mirror):
    wanted = text_source(mirror, sha256="0" * 64)
    with pytest.raises(UserError, match=f"has sha256 {sha256(mirror / 'text.txt.xz')}, expected 0000"):
        fetch.fetch(wanted, str(mirror))
    assert not wanted.record.exists()


def test_an_html_page_in_place_of_the_file_is_called_that(mirror):
    (mirror / "text.txt.xz").write_bytes(b"<!DOCTYPE html><html>404</html>")
    with pytest.raises(UserError, match="starts like an HTML page"):
        fetch.fetch(text_source(mirror, sha256="0" * 64), str(mirror))


def test_an_unpublished_hash_is_learned_once_and_checked_from_then_on(mirror):
    wanted = text_source(mirror, sha256=None)
    fetch.fetch(wanted, str(mirror))
    (mirror / "text.txt.xz").write_bytes(lzma.compress(b"Something else.\n"))
    with pytest.raises(UserError, match="learned at the first fetch"):
        fetch.fetch(wanted, str(mirror))


def test_a_truncated_file_is_refused(mirror):
    packed = (mirror / "text.txt.xz").read_bytes()
    (mirror / "text.txt.xz").write_bytes(packed[:-20])
    with pytest.raises(UserError, match="not a complete xz file"):
        fetch.fetch(text_source(mirror), str(mirror))


def test_an_archive_cannot_write_outside_its_folder(mirror, tmp_path):
    with tarfile.open(mirror / "tasks.tar", "w") as archive:
        add(archive, "../../../../escaped.txt", b"x")
    wanted = replace(source("senteval-downstream"), mirror="tasks.tar", sha256=None)
    with pytest.raises(UserError, match="cannot be unpacked"):
        fetch.fetch(wanted, str(mirror))
    assert not list(tmp_path.rglob("escaped.txt"))


def test_a_mirror_without_a_source_is_refused_even_where_a_url_exists(mirror):
    with pytest.raises(UserError, match="missing from the mirror; run `clrepro mirror`, or fetch once without"):
        source("wiki1m-for-simcse").check_reachable(str(mirror))
    source("wiki1m-for-simcse").check_reachable(None)


def test_every_source_is_complete():
    for name, entry in sources().items():
        assert entry.licence, name
        assert entry.revision, name
        assert entry.kind == "generated" or entry.mirror, name
        assert entry.url or entry.sha256 or entry.kind in ("generated", "folder"), name
        assert entry.sha256 is None or len(entry.sha256) == 64, name


# evaluation sets


def test_the_generated_sets_have_sentevals_shape(demo_tasks):
    for task, subsets in files.STS_SUBSETS.items():
        for subset in subsets:
            assert len(files.load_sts_subset(demo_tasks, task, subset).gold) == 40, (task, subset)
    sizes = {
        task: {k: len(v.labels) for k, v in files.load_transfer(demo_tasks, task).items()}
        for task in files.TRANSFER_TASKS
    }
    assert sizes["MR"] == {"all": 400}
    assert sizes["SST2"] == {"train": 400, "dev": 100, "test": 150}
    assert sizes["TREC"] == {"train": 360, "test": 120}
    sentences = files.distinct_sentences(demo_tasks)
    assert len(sentences) == len(set(sentences)) > 3000


def test_unannotated_pairs_are_left_out_and_misaligned_files_refused(demo_tasks, tmp_path):
    folder = tmp_path / "STS" / "STS12-en-test"
    folder.mkdir(parents=True)
    (folder / "STS.input.MSRpar.txt").write_text("a b\tc d\ne\tf\ng\th\n")
    (folder / "STS.gs.MSRpar.txt").write_text("4.5\n\n0\n")
    (tmp_path / "counts.json").write_text('{"STS/STS12-en-test/STS.input.MSRpar.txt": 2}')
    pairs = files.load_sts_subset(tmp_path, "STS12", "MSRpar")
    assert (pairs.first, pairs.gold) == (["a b", "g"], [4.5, 0.0])
    (folder / "STS.gs.MSRpar.txt").write_text("4.5\n\n")
    with pytest.raises(UserError, match="has 3 lines, STS.gs.MSRpar.txt has 2"):
        files.load_sts_subset(tmp_path, "STS12", "MSRpar")
    with pytest.raises(FileNotFoundError, match=r"STS\.input\.MSRvid\.txt is missing"):
        files.load_sts_subset(tmp_path, "STS12", "MSRvid")
