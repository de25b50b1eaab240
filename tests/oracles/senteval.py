"""SentEval's transfer tasks as SimCSE's fork computes them, one classifier after the other, on CPU in float32.

The reference for the fast implementation: plain torch modules and optimisers, NumPy's legacy random stream and
scikit-learn's folds; nothing batched over classifiers, nothing shared with the library. Everything is a pure
function of arrays: the global generators of NumPy and torch are left as they were. x is (n, D) float32, y is (n,)
with classes 0 ... C-1, rows in the order of ``sentence_order`` or ``pair_order``. Accuracies are percent, rounded
where the original rounds; ``fit`` returns a fraction. Bits depend on the number of torch threads: use one.

Sources, facts only, read in stored copies:

- princeton-nlp/SimCSE: evaluation.py (206d7ae), SentEval/senteval/sick.py, engine.py and tools/relatedness.py
  (fb0e512), sts.py (7edb07e): the two protocols, pairs, the regressor, the '-finetune' tasks.
- facebookresearch/SentEval: binary.py, mrpc.py (628db91), trec.py (1405448), sst.py (2f37aab), tools/classifier.py
  (0a1ecc6, an older version), tools/validation.py (102d319): order of the examples, loop, folds, rounding.
- Copies of SimCSE's fork: gokg/SimCSE's tools/classifier.py (the original with a CPU path) and seanswyi/simcse's
  tools/validation.py (reformatted): they agree with the two files above in everything that is used here.

Not confirmed: SimCSE's own classifier.py and validation.py are not stored (they are said to equal upstream's last
version). The original runs on CUDA; weights and permutations are drawn on the CPU, so it differs by rounding only,
but with torch 1.7 to 1.11 on Ampere or later (SimCSE: 1.7.1, RTX 3090) that rounding is TF32's unless switched off.
That torch's Linear init and scikit-learn's folds draw the same numbers as in the pinned versions (torch 1.7.1,
scikit-learn 0.24) was not run.
"""

import numpy as np
import torch
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import f1_score, mean_squared_error
from sklearn.model_selection import StratifiedKFold
from torch import nn

SEED = 1111
L2_GRID = (1e-5, 1e-4, 1e-3, 1e-2)
CARVED = 0.05
MAX_PASSES = 200

# SimCSE's evaluation.py: mode "test"; modes "dev" and "fasttest" share the other row.
PROTOCOLS = {
    "test": {"folds": 10, "optimiser": "adam", "batch": 64, "tenacity": 5, "epoch_size": 4},
    "fast": {"folds": 5, "optimiser": "rmsprop", "batch": 128, "tenacity": 3, "epoch_size": 2},
}

# task: (form of the evaluation, number of classes). MRPC and SICKEntailment take ``pair_features``. SST5 and
# SICKEntailment are in SentEval but in none of SimCSE's task sets; their labels are 0 ... 4 from very negative to very
# positive, and CONTRADICTION 0, NEUTRAL 1, ENTAILMENT 2.
TASKS = {
    "MR": ("nested", 2),
    "CR": ("nested", 2),
    "SUBJ": ("nested", 2),
    "MPQA": ("nested", 2),
    "TREC": ("with_test", 6),
    "MRPC": ("with_test", 2),
    "SST2": ("with_dev", 2),
    "SST5": ("with_dev", 5),
    "SICKEntailment": ("with_dev", 3),
}


def sentence_order(sentences: list[str], labels: list) -> list[int]:
    """Row numbers sorted by (tokens, label): MR, CR, SUBJ, MPQA, SST2, SST5, TREC; each split on its own.

    A length is ``len(line.split())``: white-space tokens of the file, after TREC's two labels are cut off, not
    characters and not the model's tokens. An empty line has length 0. The sort is stable: equal keys keep the file's
    order, and in the four tasks with two files the file of class 1 comes first (SUBJ: objective).
    """
    return sorted(range(len(labels)), key=lambda i: (len(sentences[i].split()), labels[i]))


def pair_order(first: list[str], second: list[str], labels: list) -> list[int]:
    """Row numbers sorted by (tokens of the first, tokens of the second, label or score), stably.

    MRPC, SICKEntailment and the regressor's two tasks; each split on its own. ``labels`` are the class numbers, or
    the gold scores as floats.
    """
    return sorted(range(len(labels)), key=lambda i: (len(first[i].split()), len(second[i].split()), labels[i]))


def pair_features(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n, 2D): [|a - b|, a * b], in the precision of the embeddings; no scaling."""
    return np.concatenate([np.abs(first - second), first * second], axis=1)


def _fresh_linear(inputs: int, outputs: int) -> nn.Linear:
    """The layer as it is right after ``torch.manual_seed(1111)``: every classifier starts from the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return nn.Linear(inputs, outputs)


def _one_pass(model, loss_function, optimiser, x, y, batch, stream) -> None:
    """One pass over the shuffled rows; the last batch may be short and counts like the others (batch mean)."""
    permutation = torch.from_numpy(stream.permutation(len(x)))
    for start in range(0, len(x), batch):
        rows = permutation[start : start + batch]
        optimiser.zero_grad()
        loss_function(model(x[rows]), y[rows]).backward()
        optimiser.step()


def _classes(weights, bias, x, batch) -> np.ndarray:
    """Most probable classes, the first among equals; in batches, as the original, because bits may depend on them."""
    weights, bias, x = (torch.as_tensor(array, dtype=torch.float32) for array in (weights, bias, x))
    parts = [nn.functional.linear(x[i : i + batch], weights, bias).max(1)[1] for i in range(0, len(x), batch)]
    return torch.cat(parts).numpy()


def accuracy(weights: np.ndarray, bias: np.ndarray, x: np.ndarray, y: np.ndarray, batch: int) -> float:
    """Correct rows as a fraction."""
    return int((_classes(weights, bias, x, batch) == np.asarray(y)).sum()) / len(y)


def fit(train_x, train_y, dev_x, dev_y, classes, l2, optimiser, batch, tenacity, epoch_size, carve=None):
    """Train one classifier; return (best dev accuracy as a fraction, weights (C, D), bias (C,), rounds).

    One linear layer, mean cross entropy, coupled weight decay ``l2`` on weights and bias, PyTorch's default learning
    rate (Adam 1e-3, RMSprop 1e-2). A round is ``epoch_size`` passes, then the dev part is scored; strict improvement
    keeps a copy. Rounds without improvement are counted and the counter never goes back; the (tenacity + 1)-th one
    ends the training. A round starts only while at most 200 passes are done: 51 rounds of 4, 101 of 2.

    With ``carve`` the dev part is given as None: the first int(carve * n) rows of a permutation are dev rows, the
    others train, in the permuted order. That permutation is the first draw of the stream; each pass draws another.
    """
    stream = np.random.RandomState(SEED)  # the stream of np.random after np.random.seed(1111)
    model = _fresh_linear(train_x.shape[1], classes)
    if carve is not None:
        permutation = stream.permutation(len(train_x))
        held, kept = permutation[: int(carve * len(train_x))], permutation[int(carve * len(train_x)) :]
        dev_x, dev_y, train_x, train_y = train_x[held], train_y[held], train_x[kept], train_y[kept]
    x, y = torch.as_tensor(train_x, dtype=torch.float32), torch.as_tensor(train_y, dtype=torch.int64)
    optimiser_class = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}[optimiser]
    step_rule = optimiser_class(model.parameters(), weight_decay=l2)

    best, best_weights, best_bias = -1.0, None, None
    passes = rounds = without_improvement = 0
    while passes <= MAX_PASSES and without_improvement <= tenacity:
        for _ in range(epoch_size):
            _one_pass(model, nn.functional.cross_entropy, step_rule, x, y, batch, stream)
        passes, rounds = passes + epoch_size, rounds + 1
        weights, bias = model.weight.detach().numpy(), model.bias.detach().numpy()
        score = accuracy(weights, bias, dev_x, dev_y, batch)
        if score > best:
            best, best_weights, best_bias = score, weights.copy(), bias.copy()
        else:
            without_improvement += 1
    return best, best_weights, best_bias, rounds


def _settings(protocol) -> tuple[int, dict]:
    """(folds, the keyword arguments of ``fit``) of a protocol's name, or of a dict of the same keys."""
    settings = dict(PROTOCOLS[protocol] if isinstance(protocol, str) else protocol)
    return settings.pop("folds"), settings


def _fold_means(x, y, classes, folds, settings) -> list[float]:
    """Mean accuracy over the folds for each l2, in percent with two decimals.

    The fold left out both stops the training and is scored, so its score is the best dev accuracy. Means are rounded
    as NumPy numbers (scaled, half to even, scaled back), single accuracies as Python numbers (by their exact binary
    value): at a tie the two can differ by 0.01. The original leaves this to the types, and so does this.
    """
    means = []
    for l2 in L2_GRID:
        scores = []
        for train, held in StratifiedKFold(n_splits=folds, shuffle=True, random_state=SEED).split(x, y):
            scores.append(fit(x[train], y[train], x[held], y[held], classes, l2, **settings)[0])
        means.append(float(round(100 * np.mean(scores), 2)))
    return means


def nested(x, y, classes, protocol, outer_folds=None) -> dict:
    """MR, CR, SUBJ, MPQA: nested k-fold; return {dev, test, folds}.

    Each outer training part is split again, by the same rule and seed, to choose l2 (ties: the smallest), then
    refitted with 5 % carved out and scored on the outer fold. ``folds`` holds {fold, inner_means, l2, dev, test,
    rounds} of each outer fold; dev and test are means over them, of numbers that are already rounded. With
    ``outer_folds``, a collection of fold numbers from 0, only these are computed and averaged.
    """
    folds, settings = _settings(protocol)
    results = []
    splits = StratifiedKFold(n_splits=folds, shuffle=True, random_state=SEED).split(x, y)
    for number, (train, held) in enumerate(splits):
        if outer_folds is not None and number not in outer_folds:
            continue
        means = _fold_means(x[train], y[train], classes, folds, settings)
        l2 = L2_GRID[int(np.argmax(means))]
        _, weights, bias, rounds = fit(x[train], y[train], None, None, classes, l2, **settings, carve=CARVED)
        test = round(100 * accuracy(weights, bias, x[held], y[held], settings["batch"]), 2)
        results.append(dict(fold=number, inner_means=means, l2=l2, dev=max(means), test=test, rounds=rounds))
    dev, test = (float(round(np.mean([result[key] for result in results]), 2)) for key in ("dev", "test"))
    return dict(dev=dev, test=test, folds=results)


def with_test(train_x, train_y, test_x, test_y, classes, protocol) -> dict:
    """TREC, MRPC: k-fold on train chooses l2 (ties: the smallest), refit with 5 % carved out, official test set.

    Returns {dev, test, f1, means, l2, rounds}: dev is the best mean, f1 that of class 1 in percent (None unless
    there are two classes; only MRPC reports it).
    """
    folds, settings = _settings(protocol)
    means = _fold_means(train_x, train_y, classes, folds, settings)
    l2 = L2_GRID[int(np.argmax(means))]
    _, weights, bias, rounds = fit(train_x, train_y, None, None, classes, l2, **settings, carve=CARVED)
    test = round(100 * accuracy(weights, bias, test_x, test_y, settings["batch"]), 2)
    predicted = _classes(weights, bias, test_x, settings["batch"])
    f1 = round(100 * f1_score(test_y, predicted), 2) if classes == 2 else None
    return dict(dev=max(means), test=test, f1=f1, means=means, l2=l2, rounds=rounds)


def with_dev(train_x, train_y, dev_x, dev_y, test_x, test_y, classes, protocol) -> dict:
    """SST2, SST5, SICKEntailment: the dev part stops every training and chooses l2 (ties: the smallest).

    Returns {dev, test, scores, l2, rounds}. The refit with the chosen l2 equals the fit of the search, bit by bit
    (same seed, same data), so it is not repeated here. No folds.
    """
    _, settings = _settings(protocol)
    fits = [fit(train_x, train_y, dev_x, dev_y, classes, l2, **settings) for l2 in L2_GRID]
    scores = [round(100 * best, 2) for best, *_ in fits]
    chosen = int(np.argmax(scores))
    _, weights, bias, rounds = fits[chosen]
    test = round(100 * accuracy(weights, bias, test_x, test_y, settings["batch"]), 2)
    return dict(dev=max(scores), test=test, scores=scores, l2=L2_GRID[chosen], rounds=rounds)


def evaluate(task: str, splits: dict, protocol) -> dict:
    """Dispatch on ``TASKS``. ``splits``: {"all": (x, y)}, or {"train", "test"} and, where there is one, "dev"."""
    form, classes = TASKS[task]
    if form == "nested":
        return nested(*splits["all"], classes, protocol)
    if form == "with_test":
        return with_test(*splits["train"], *splits["test"], classes, protocol)
    return with_dev(*splits["train"], *splits["dev"], *splits["test"], classes, protocol)


def score_distributions(scores) -> np.ndarray:
    """Encode scores s as (n, 5) float32 over the values 1 ... 5 (Tai, Socher and Manning 2015).

    With f = floor(s): 1 - (s - f) on f and s - f on f + 1, hence mean s. Values outside 1 ... 5 have no column: for
    STS-B's s in [0, 1) the row is (s, 0, 0, 0, 0), which sums to s instead of 1, as in the original.
    """
    targets = np.zeros((len(scores), 5), dtype=np.float32)
    for row, score in zip(targets, scores, strict=True):
        whole = int(np.floor(score))
        if 1 <= whole <= 5:
            row[whole - 1] = whole - score + 1
        if 1 <= whole + 1 <= 5:
            row[whole] = score - whole
    return targets


def relatedness(
    train_x, train_scores, dev_x, dev_scores, test_x, test_scores, stop_on="spearman", passes=50, max_passes=1000
) -> dict:
    """STSBenchmark-finetune and SICKRelatedness-finetune: {dev, pearson, spearman, mse, predictions, rounds}.

    x are ``pair_features`` in ``pair_order``. Linear(2D, 5), softmax, mean squared error over all n * 5 entries
    against ``score_distributions``, Adam with PyTorch's defaults and no weight decay, batches of 64, seed 1111 for
    both generators. The protocol's settings and nhid have no influence. Predicted score: sum of k * p_k, in float64.
    After each round of 50 passes the dev correlation with the raw scores (undefined: 0) is taken; strict improvement
    over -1 keeps a copy; the fourth round without improvement, counted over the whole training, ends it; a round
    starts while at most 1000 passes are done (21 rounds). ``stop_on``: "spearman" in SimCSE's fork, "pearson"
    upstream. Correlations are -1 to 1, unrounded, of the test predictions with the raw scores.

    Confirmed in SimCSE's tools/relatedness.py, sick.py and sts.py. Upstream's version with its Pearson was seen at
    1869aab only, where an undefined dev correlation is not turned into 0 (it then counts as no improvement; if it
    stays undefined the original fails for want of a model).
    """
    stream = np.random.RandomState(SEED)
    linear = _fresh_linear(train_x.shape[1], 5)
    model = nn.Sequential(linear, nn.Softmax(dim=-1))
    optimiser = torch.optim.Adam(model.parameters())
    x, targets = torch.as_tensor(train_x, dtype=torch.float32), torch.from_numpy(score_distributions(train_scores))
    correlation = {"spearman": spearmanr, "pearson": pearsonr}

    def predict(features) -> np.ndarray:
        rows = torch.as_tensor(features, dtype=torch.float32)
        with torch.no_grad():
            return np.concatenate([model(rows[i : i + 64]).numpy() for i in range(0, len(rows), 64)]) @ np.arange(1, 6)

    def agreement(name, predictions, gold) -> float:
        value = float(correlation[name](predictions, gold)[0])
        return 0.0 if np.isnan(value) else value

    best, best_state = -1.0, None
    done = rounds = without_improvement = 0
    while done <= max_passes and without_improvement <= 3:
        for _ in range(passes):
            _one_pass(model, nn.functional.mse_loss, optimiser, x, targets, 64, stream)
        done, rounds = done + passes, rounds + 1
        dev = agreement(stop_on, predict(dev_x), dev_scores)
        if dev > best:
            best, best_state = dev, {name: value.clone() for name, value in model.state_dict().items()}
        else:
            without_improvement += 1
    model.load_state_dict(best_state)
    predictions = predict(test_x)
    test = {name: agreement(name, predictions, test_scores) for name in ("pearson", "spearman")}
    error = float(mean_squared_error(test_scores, predictions))
    return dict(dev=best, **test, mse=error, predictions=predictions, rounds=rounds)
