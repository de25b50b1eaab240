"""Evaluation sets: every real fault is refused before anything is computed."""

import json

import pytest

from clrepro.errors import UserError
from clrepro.evaluation.senteval import files, pairs
from tests.evaluation.senteval.loading import load

PORTUGUESE = "os meninos estão brincando ao ar livre e o homem está sorrindo por perto"
CHINESE = "一个男孩在外面的院子里和他的狗一起玩耍"
EVERYTHING = (*files.STS_TASKS, *files.TRANSFER_TASKS, *files.EXTRA_TASKS, *files.REGRESSION_TASKS)


def rewrite(change):
    """Damage a file line by line."""

    def apply(text):
        lines = text.split("\n")[:-1]
        return "".join(f"{line}\n" for line in change(lines))

    return apply


def columns(change):
    return rewrite(lambda lines: ["\t".join(change(line.split("\t"))) for line in lines])


def swap(one, other):
    def change(row):
        row[one], row[other] = row[other], row[one]
        return row

    return columns(change)


def replace_line(number, change):
    return rewrite(lambda lines: [*lines[: number - 1], change(lines[number - 1]), *lines[number:]])


def cell(number, column, value):
    def change(line):
        row = line.split("\t")
        row[column] = value
        return "\t".join(row)

    return replace_line(number, change)


def translate(*places):
    def change(row):
        return [PORTUGUESE if place in places else text for place, text in enumerate(row)]

    return rewrite(lambda lines: [lines[0], *("\t".join(change(line.split("\t"))) for line in lines[1:])])


FAULTS = {
    # file, damage, what the message says of it
    "html": ("MR/rt-polarity.pos", lambda _: "\n<!DOCTYPE html><p>404", "is an HTML page, expected sentences"),
    "blank": ("CR/custrev.neg", lambda text: "\n" * text.count("\n"), "examples are empty"),
    "empty": ("STS/STSBenchmark/sts-dev.csv", lambda _: "", "is empty, expected sentences"),
    "truncated": ("SST/binary/sentiment-train", lambda text: text[:9000], "expected 400 examples, found 1"),
    "cut in the last line": ("MRPC/msr_paraphrase_test.txt", lambda text: text[:-90], "line 151: . columns, expected"),
    "too long": ("TREC/TREC_10.label", lambda text: text + "NUM:dist How far is it ?\n", "expected 120 .* found 121"),
    "a score lost": ("STS/STS16-en-test/STS.gs.headlines.txt", rewrite(lambda s: s[1:]), "50 lines, .* has 49"),
    "a score emptied": ("STS/STS13-en-test/STS.gs.FNWN.txt", replace_line(3, lambda _: ""), "expected 40 .* found 39"),
    "unicode line": (
        "STS/STS13-en-test/STS.input.FNWN.txt",
        replace_line(7, lambda line: line.replace(" ", "\u2028", 1)),
        r"line 7: .* found U\+2028",
    ),
    "latin-1 line": ("CR/custrev.neg", lambda text: "\x85" + text, r"custrev.neg, line 1: .* found U\+0085"),
    "translated STS": ("STS/STSBenchmark/sts-test.csv", translate(5, 6), r"column 6: expected English.*found 0\.1%"),
    "one column translated": ("STS/STS12-en-test/STS.input.MSRvid.txt", translate(1), "column 2: expected English"),
    "translated SICK": ("SICK/SICK_trial.txt", translate(1, 2), "column 2: expected English"),
    "translated films": ("MR/rt-polarity.neg", rewrite(lambda s: [PORTUGUESE] * len(s)), "expected English"),
    "chinese": (
        "STS/STSBenchmark/sts-dev.csv",
        rewrite(lambda s: [f"a\tb\tc\td\t1\t{CHINESE}\t{CHINESE}"] * 150),
        "Eng",
    ),
    "score first": (
        "STS/STS14-en-test/STS.input.images.txt",
        columns(lambda row: ["3.5", *row]),
        "column 1: expected sentences, found numbers in 40 of 40",
    ),
    "score and sentence swapped": ("STS/STSBenchmark/sts-train.csv", swap(4, 5), "numbers in 200 of 200"),
    "score and year swapped": ("STS/STSBenchmark/sts-train.csv", swap(4, 2), "line 1: expected a score, found '201"),
    "header of SICK lost": ("SICK/SICK_trial.txt", rewrite(lambda s: s[1:]), "pair_ID, .* in line 1, found"),
    "columns of SICK swapped": ("SICK/SICK_train.txt", swap(3, 4), "relatedness_score, entailment_judgment in line 1"),
    "header of MRPC lost": ("MRPC/msr_paraphrase_train.txt", rewrite(lambda s: s[1:]), "Quality, .* in line 1, found"),
    "class of MRPC": ("MRPC/msr_paraphrase_train.txt", cell(4, 0, "2"), "line 4: expected a class of 0, 1, found '2'"),
    "hidden test labels": (
        "SST/binary/sentiment-test",
        cell(9, 1, "-1"),
        "line 9: expected a class of 0, 1, found '-1'",
    ),
    "SST swapped": ("SST/binary/sentiment-dev", swap(0, 1), "line 1: expected a class of 0, 1, found"),
    "class of TREC": (
        "TREC/train_5500.label",
        replace_line(2, lambda s: "X" + s),
        "line 2: .* of ABBR, DESC, .*found 'X",
    ),
    "question lost": ("TREC/TREC_10.label", replace_line(2, lambda s: s.split()[0]), "example 2 is empty"),
    "sentence lost": ("SICK/SICK_trial.txt", cell(3, 1, " "), "column 2: example 2 is empty"),
    "over 5": (
        "STS/STS13-en-test/STS.gs.OnWN.txt",
        replace_line(1, lambda _: "5.01"),
        "line 1: .* 0 to 5, found 5.01",
    ),
    "below 0": ("STS/STSBenchmark/sts-dev.csv", cell(2, 4, "-0.5"), "line 2: expected a score from 0 to 5, found -0.5"),
    "below 1 in SICK": ("SICK/SICK_train.txt", cell(2, 3, "0.9"), "line 2: expected a score from 1 to 5, found 0.9"),
    "no number": ("STS/STSBenchmark/sts-dev.csv", cell(2, 4, "nan"), "line 2: expected a score from 0 to 5, found nan"),
    "SICK-E": (
        "SICK/SICK_trial.txt",
        cell(5, 4, "entails"),
        "line 5: expected a class of CONTRADICTION.*found 'entails",
    ),
    "not utf-8": ("SST/binary/sentiment-dev", lambda text: text.encode() + b"\xe9", "is not utf-8"),
}


def task_of(fault, file):
    years = {f"STS{year}": f"STS{year}" for year in range(12, 17)}
    named = years | {"STSBenchmark": "STSBenchmark", "SICK": "SICKRelatedness", "SST": "SST2"}
    part = file.split("/")[1 if file.startswith("STS/") else 0].removesuffix("-en-test")
    return "SICKEntailment" if fault == "SICK-E" else named.get(part, part)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_and_named(folder, fault):
    name, damage, message = FAULTS[fault]
    file, task = folder / name, task_of(fault, name)
    load(folder, task)
    damaged = damage(file.read_text("utf-8-sig"))
    file.write_bytes(
        damaged if isinstance(damaged, bytes) else damaged.encode("latin-1" if "\x85" in damaged else "utf-8")
    )
    with pytest.raises(UserError, match=message) as refusal:
        load(folder, task)
    assert file.name.removeprefix("STS.gs.") in str(refusal.value)  # a lost score is reported at its pairs


def test_a_missing_file_is_a_missing_file(folder):
    (folder / "MPQA" / "mpqa.neg").unlink()
    with pytest.raises(FileNotFoundError, match=r"mpqa\.neg is missing; expected SentEval's downstream folder"):
        load(folder, "MPQA")


@pytest.mark.parametrize("task", EVERYTHING)
def test_without_a_manifest_the_standard_counts_hold(folder, task):
    if task != "SST5":
        load(folder, task)
    (folder / pairs.COUNTS_FILE).unlink()
    with pytest.raises((UserError, FileNotFoundError), match=r"expected \d{3,5} examples, found \d+|SST/fine"):
        load(folder, task)


def test_a_manifest_must_be_complete_and_readable(folder):
    manifest = folder / pairs.COUNTS_FILE
    counts = json.loads(manifest.read_text())
    del counts["SUBJ/subj.objective"]
    manifest.write_text(json.dumps(counts))
    load(folder, "MR")
    for text in (manifest.read_text(), "[]", "{"):
        manifest.write_text(text)
        with pytest.raises(UserError, match=r"counts\.json has no count for SUBJ/subj\.objective"):
            load(folder, "SUBJ")


def test_the_known_bad_copies_are_called_what_they_are(tmp_path):
    (tmp_path / "SUBJ").mkdir()
    (tmp_path / "SUBJ" / "subj.objective").write_text("the plot is told by the son of a farmer .\n" * 5000)
    (tmp_path / "SUBJ" / "subj.subjective").write_text("it is the best of the year .\n" * 20)
    with pytest.raises(
        UserError, match="subj.subjective: expected 5000 examples, found 20; this is the SimCSE archive"
    ):
        files.load_transfer(tmp_path, "SUBJ")
    (tmp_path / "STS" / "STSBenchmark").mkdir(parents=True)
    (tmp_path / "STS" / "STSBenchmark" / "sts-dev.csv").write_text("x\n" * 1458)
    with pytest.raises(UserError, match="expected 1500 examples, found 1458; this is a Chinese translation"):
        pairs.load_pairs(tmp_path, "STSBenchmark", "dev")


def test_the_further_tasks_have_sentevals_classes(folder):
    rows = [(1, 2.0, "NEUTRAL"), (2, 4.5, "ENTAILMENT"), (3, 3.0, "CONTRADICTION")]
    lines = ["\t".join(pairs.SICK_HEADER), *(f"{n}\tA dog {n}\tThe dog {n}\t{gold}\t{name}" for n, gold, name in rows)]
    (folder / "SST" / "fine").mkdir()
    counts = {}
    for _, (name, _) in pairs.SICK_FILES.items():
        (folder / name).write_text("\n".join(lines))  # no line feed at the end
        counts[name] = 3
    for name, _ in files.FORMATS["SST5"].files.values():
        (folder / name).write_text("4 the  best of all\n0 a mess\n")
        counts[name] = 2
    (folder / pairs.COUNTS_FILE).write_text(json.dumps(counts))
    entailment = files.load_transfer(folder, "SICKEntailment")
    assert list(entailment) == ["train", "dev", "test"]
    assert entailment["dev"] == files.Labelled(
        ["A dog 1", "A dog 2", "A dog 3"], [1, 2, 0], ["The dog 1", "The dog 2", "The dog 3"]
    )
    assert files.load_transfer(folder, "SST5")["test"] == files.Labelled(["the best of all", "a mess"], [4, 0])
    assert files.load_regression(folder, "SICKRelatedness-finetune")["train"].gold == [2.0, 4.5, 3.0]
    with pytest.raises(UserError, match="unknown task 'MRCP'. Did you mean MRPC"):
        files.load_transfer(folder, "MRCP")
    with pytest.raises(UserError, match="unknown split 'trial' in SICKRelatedness"):
        pairs.load_pairs(folder, "SICKRelatedness", "trial")


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
