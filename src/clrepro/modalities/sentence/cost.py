"""What a sentence encoder costs, from operation counts."""

from clrepro.modalities.run import HALF_SHARE, RUNTIME_GB, Cost, Run
from clrepro.settings import Common
from clrepro.sources.source import source
from clrepro.training.epochs import Epochs

TOKENS_PER_SENTENCE = 26  # mean length of the Wikipedia sentences at 32 tokens, special ones included
DEVELOPMENT_SENTENCES = 4000  # STS-B and SICK-R dev, both columns
EVALUATION_SENTENCES = 140_000  # distinct sentences of the seven STS and seven transfer sets
GENERATED_SENTENCES = 6000  # of the demo's
# seconds of a core for SentEval's transfer tasks from stored embeddings: `test` measured (docs/benchmarks/senteval.md),
# `fast` by its half of the folds and of the passes
PROBING_SECONDS = {"test": 44.8, "fast": 11.2}


KEPT_NUMBERS = 23  # a token, layer and dimension, for the backward pass


def shape(run: Run) -> dict[str, int]:
    """Layers, widths, heads and vocabulary; a local folder of weights counts as BERT_base."""
    spec = run.backbone.spec
    if spec["kind"] == "scratch":
        names = ("layers", "hidden_size", "heads", "vocabulary", "intermediate_size")
        return {name: spec[name] for name in names} | {
            "intermediate_size": spec["intermediate_size"] or 4 * spec["hidden_size"]
        }
    known = source(spec["source"]).encoder if spec.get("source") else {}
    found = {"layers": 12, "hidden_size": 768, "vocabulary": 30_522, **known}
    return {**found, "heads": found["hidden_size"] // 64, "intermediate_size": 4 * found["hidden_size"]}


def encoder_size(run: Run) -> tuple[int, int]:
    """(parameters of the transformer layers, of the embeddings)."""
    size = shape(run)
    width = size["hidden_size"]
    return size["layers"] * (4 * width + 2 * size["intermediate_size"]) * width, (size["vocabulary"] + 512) * width


def steps(config: Common, run: Run) -> int:
    lines = config.sentence.corpus_lines or source(config.sentence.corpus).sentences or 0
    trained = Epochs(lines - int(lines * run.recipe.held_out), run.recipe.batch_size)
    return trained.steps_of(run.recipe.epochs) if run.objective else 0


def memory_gb(run: Run) -> float:
    """Of a GPU that trains it: what both views' tokens keep in every layer, weights, gradients and AdamW's moments."""
    size, (layers, embeddings) = shape(run), encoder_size(run)
    tokens = 2 * run.recipe.batch_size * TOKENS_PER_SENTENCE
    kept = KEPT_NUMBERS * 4 * tokens * size["layers"] * size["hidden_size"]
    half = run.recipe.precision != "fp32"
    return RUNTIME_GB + (kept * (HALF_SHARE if half else 1) + 4 * 4 * (layers + embeddings)) / 1e9


def of_run(config: Common, run: Run) -> Cost:
    """Two operations a weight and token forwards, four backwards; two views; development and test embeddings."""
    layers, embeddings = encoder_size(run)
    count = steps(config, run)
    trained = 6 * count * run.recipe.batch_size * 2 * TOKENS_PER_SENTENCE
    selected = 2 * (count // run.recipe.evaluate_every) * DEVELOPMENT_SENTENCES * TOKENS_PER_SENTENCE
    generated = source(config.sentence.tasks).kind == "generated"
    tests = GENERATED_SENTENCES if generated else EVALUATION_SENTENCES
    unit = config.hardware
    training = unit.hours(layers * trained, run.recipe.precision, count * shape(run)["layers"]) + unit.hours(
        layers * selected
    )
    embedding = unit.hours(layers * 2 * tests * TOKENS_PER_SENTENCE)
    kept = 1 + count // (run.recipe.checkpoint_every or count + 1) if run.objective else 0
    return Cost(training, embedding, gigabytes=kept * 4 * (layers + embeddings) / 1e9)


def of_transfer(config: Common) -> Cost:
    """The classifiers of the transfer tasks; STS takes seconds."""
    return Cost(probing=PROBING_SECONDS[config.sentence.protocol] / 3600)
