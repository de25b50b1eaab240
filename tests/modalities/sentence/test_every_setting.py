"""Every setting of a sentence encoder's training, at a value of its own, ends in the weights that plain code reaches.

From a row of a configuration through recipe, workload and loop on our side; on the other a trainer written from the
papers (tests/oracles/trainers.py) with the values that stand here, on the same sentences and dropout draws. So that
the draws are the same, padding is computed as transformers does; on real tokens alone (packing.py), as a training is by
default, dropout is off here.
"""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from scipy.stats import spearmanr
from transformers import AutoModel, AutoTokenizer

from clrepro import config as configuration
from clrepro import objectives, stages
from clrepro.catalogue import Catalogue
from clrepro.evaluation.senteval.pairs import load_pairs
from clrepro.modalities.sentence import cost, packing
from clrepro.modalities.sentence.encoder import make_head
from clrepro.modalities.sentence.recipe import SentenceRecipe
from clrepro.paths import read_json
from clrepro.sources.source import source
from tests.oracles import trainers

SEED, LINES, HELD_OUT_SEED = 7, 130, 0
STEPS = 9  # 130 sentences in batches of 16, the last of 2
BASE = dict(
    pooling="cls", head="tanh", head_at_selection=False, freeze_embeddings=False, dropout=None, batch_size=16,
    learning_rate=1e-3, epochs=1.0, evaluate_every=100, max_length=12, precision="fp32", optimiser="adamw",
    weight_decay=0.0, clip=0.5, held_out=0.0, checkpoint_every=None, temperature=0.05,
)  # fmt: skip
CHANGES = {  # of one setting each, but where another has to change with it
    "base": {},
    "another objective's hyperparameter": {"objective": "mpt", "margin": 0.7},
    "temperature": {"temperature": 0.4},
    "pooling avg": {"pooling": "avg"},
    "pooling avg_first_last": {"pooling": "avg_first_last"},
    "pooling avg_embeddings_last": {"pooling": "avg_embeddings_last"},
    "no head": {"head": None},
    "head linear": {"head": "linear"},
    "head tanh_linear": {"head": "tanh_linear"},
    "head_at_selection": {"head_at_selection": True},
    "freeze_embeddings": {"freeze_embeddings": True},
    "dropout": {"dropout": 0.3},
    "batch_size": {"batch_size": 24},
    "learning_rate": {"learning_rate": 2e-4},
    "epochs": {"epochs": 1.5},
    "evaluate_every": {"evaluate_every": 2},
    "max_length": {"max_length": 6},
    "two steps": {"epochs": 0.2},
    "precision bf16": {"epochs": 0.2, "precision": "bf16"},  # rounding to bf16 soon tears equal trainings apart
    "optimiser": {"optimiser": "adamw_transformers"},
    "weight_decay": {"weight_decay": 0.5},
    "clip": {"clip": 0.05},
    "held_out": {"held_out": 0.2},
    "checkpoint_every": {"checkpoint_every": 2},
    "packed": {"dropout": 0.0},
    "packed, pooling avg": {"dropout": 0.0, "pooling": "avg"},
}
BESIDE = {"precision bf16": "two steps"}  # what it differs from, where that is not the base
# first tokens alone and all tokens differ by rounding, and views without dropout leave gradients that are little else,
# of which AdamW makes whole steps; test_packing.py has the gradients themselves
ROUGH = {"packed": 1e-3}
SAME_WEIGHTS = ("base", "head_at_selection", "evaluate_every", "checkpoint_every")


def settings_of(name: str) -> dict:
    return {**BASE, **CHANGES[name]}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A working directory where corpus, evaluation sets and backbones are ready, and the runs by name."""
    folder = tmp_path_factory.mktemp("settings")
    rows = {}
    for name in CHANGES:
        settings = settings_of(name)
        objective = settings.pop("objective", "infonce")
        if objective != "infonce":
            del settings["temperature"]
        rows[name] = {"objective": objective, "recipe": "nie2023.nie2023", "settings": settings}
    tiny = dict(kind="scratch", layers=3, hidden_size=32, heads=2, vocabulary=400, mlm_epochs=3)
    backbones = dict(BERT_base=tiny, BERT_large=None, RoBERTa_base=None, RoBERTa_large=None)
    sentence = dict(corpus="demo-corpus", corpus_lines=LINES, tasks="demo-senteval", backbones=backbones)
    raw = dict(scale="demo", papers=["nie2023"], seeds=[SEED], device="cpu", rows=rows, sentence=sentence)
    catalogue = Catalogue(configuration.parse(raw))
    cells = {cell.row: cell for table in catalogue.tables for cell in table.cells if cell.column == "BERT_base"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runs = {name: cells[name].runs[0] for name in CHANGES}
        for name in ("demo-corpus", "demo-senteval"):
            stages.fetch(source(name), catalogue.config)
        for build in {run.backbone.folder: run.backbone for run in runs.values()}.values():
            stages.prepare(build, catalogue.config)
        yield folder, catalogue.config, runs


@pytest.fixture(autouse=True)
def there(place, monkeypatch):
    monkeypatch.chdir(place[0])


def ours(place, name: str):
    """The run, its record, and the checkpoint that it exports."""
    _, config, runs = place
    with pytest.MonkeyPatch.context() as patch:
        if not name.startswith("packed"):
            patch.setattr(packing, "MODELS", set())
        stages.train([runs[name]], config)  # what is finished is only linked again
    record = read_json(runs[name].record)
    return runs[name], record, weights_in(runs[name].folder / "model")


def weights_in(folder) -> dict[str, torch.Tensor]:
    head = folder / "head.safetensors"
    found = load_file(head) if head.exists() else {}
    return load_file(folder / "model.safetensors") | {f"head.{key}": value for key, value in found.items()}


def expected(place, name: str, steps: int | None = None) -> dict[str, torch.Tensor]:
    """The weights after so many steps of the plain trainer, or after all."""
    _, config, runs = place
    settings = settings_of(name)
    backbone = read_json(runs[name].backbone.records[1])["path"]
    torch.manual_seed(SEED)
    transformer = AutoModel.from_pretrained(backbone, add_pooling_layer=False, dtype=torch.float32)
    head = make_head(settings["head"], 32) if settings["head"] else None
    objective = settings.get("objective", "infonce")
    parameters = {key: settings[key] for key in ("temperature", "margin") if key in settings}
    if objective == "mpt":
        del parameters["temperature"]
    loss, calls = objectives.make(objective, **parameters), 0

    def counted(view1, view2):
        nonlocal calls
        if calls == steps:
            raise StopIteration
        calls += 1
        return loss(view1, view2)

    how = {key: settings[key] for key in ("pooling", "freeze_embeddings", "dropout", "learning_rate", "optimiser",
                                          "weight_decay", "clip", "precision")}  # fmt: skip
    with suppress(StopIteration):
        trainers.train_sentences(transformer, head, batches(config, backbone, settings), counted, **how)
    found = dict(transformer.state_dict())
    return found | ({f"head.{key}": value for key, value in head.state_dict().items()} if head is not None else {})


def batches(config, backbone, settings: dict) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """(ids, mask) of every step: the text itself, tokenised as transformers does."""
    text = Path(read_json(source("demo-corpus").record)["path"]).read_text("utf-8").splitlines()
    text = [text[row] for row in np.random.default_rng(0).permutation(len(text))[:LINES]]
    shuffled = np.random.default_rng(HELD_OUT_SEED).permutation(LINES)
    text = [text[row] for row in sorted(shuffled[int(LINES * settings["held_out"]) :])]
    tokenizer = AutoTokenizer.from_pretrained(backbone)
    made = []
    for rows in trainers.batches(len(text), settings["batch_size"], settings["epochs"], SEED):
        part = tokenizer(
            [text[row] for row in rows], truncation=True, max_length=settings["max_length"], padding=True,
            return_tensors="pt",
        )  # fmt: skip
        made.append((part["input_ids"], part["attention_mask"]))
    return made


def test_every_field_of_a_recipe_has_its_change():
    changed = {key for change in CHANGES.values() for key in change}
    assert changed >= set(SentenceRecipe.model_fields)


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_ends_in_the_weights_of_the_plain_trainer(place, name):
    run, record, found = ours(place, name)
    wanted = expected(place, name, record["best_step"])
    assert set(found) == set(wanted)
    assert record["steps"] == cost.steps(place[1], run)  # what plans price
    assert trainers.apart(found, wanted) < ROUGH.get(name, 1e-5)
    other, beside, weights = ours(place, BESIDE.get(name, "base"))
    if name not in SAME_WEIGHTS:
        assert trainers.apart(found, weights) > 1e-3  # the setting does far more than rounding
    elif record["best_step"] == beside["best_step"]:
        assert trainers.apart(found, weights) == 0
    assert name == "base" or run.folder.parent != other.folder.parent


def vectors_of(folder, sentences: list[str], pooling: str, with_head: bool = False) -> np.ndarray:
    """Sentence vectors of a checkpoint, one sentence at a time and whole, as transformers gives its hidden states."""
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    head, rows = weights_in(folder), []
    for sentence in sentences:
        with torch.no_grad():
            hidden = model(**tokenizer(sentence, return_tensors="pt"), output_hidden_states=True).hidden_states
        last = {"cls": hidden[-1][0, 0], "avg": hidden[-1][0].mean(0)}
        first = {"avg_first_last": hidden[1], "avg_embeddings_last": hidden[0]}
        row = last[pooling] if pooling in last else ((first[pooling] + hidden[-1]) / 2)[0].mean(0)
        if with_head:
            row = torch.tanh(head["head.0.weight"] @ row + head["head.0.bias"])
        rows.append(row.numpy())
    return np.stack(rows)


@pytest.mark.parametrize("name", ["base", "head_at_selection", "evaluate_every", "pooling avg"])
def test_the_checkpoint_that_scores_best_on_the_development_set_is_kept(place, name):
    settings, (run, record, _) = settings_of(name), ours(place, name)
    every = settings["evaluate_every"]
    assert [row["step"] for row in record["history"]] == (list(range(every, STEPS + 1, every)) or [STEPS])
    scores = {row["step"]: row["stsb_dev"] for row in record["history"]}
    assert record["best_step"] == max(scores, key=scores.get)
    pairs = load_pairs(Path(read_json(source("demo-senteval").record)["path"]), "STSBenchmark", "dev")
    count = len(pairs.gold)
    texts = [*pairs.first, *pairs.second]
    found = vectors_of(run.folder / "model", texts, settings["pooling"], settings["head_at_selection"])
    found = found.astype(np.float64) / np.linalg.norm(found.astype(np.float64), axis=1, keepdims=True)
    cosines = (found[:count] * found[count:]).sum(1).round(9)  # pairs of equal sentences tie
    score = spearmanr(cosines, pairs.gold).statistic
    assert scores[record["best_step"]] == pytest.approx(score, abs=2e-3)


def test_checkpoints_on_the_way_are_those_of_their_steps(place):
    run, record, _ = ours(place, "checkpoint_every")
    assert [part["step"] for part in record["checkpoints"]] == [2, 4, 6, 8]
    for step in (2, 6):
        found = weights_in(run.folder / f"checkpoints/step-{step}")
        assert trainers.apart(found, expected(place, "checkpoint_every", step)) < 1e-5


@pytest.mark.parametrize("name", [name for name in CHANGES if "pooling" in name or name == "base"])
def test_evaluations_read_vectors_of_the_training_s_own_pooling(place, name, tmp_path):
    run, _, _ = ours(place, name)
    stages.embed([run], place[1], tmp_path)
    stored = run.plan.work_module().load(run, place[1], tmp_path / f"{run.name}.npz", False)
    rows = range(0, len(stored.sentences), 97)
    wanted = vectors_of(run.folder / "model", [stored.sentences[row] for row in rows], settings_of(name)["pooling"])
    np.testing.assert_allclose(stored.vectors[list(rows)], wanted, atol=2e-5)
