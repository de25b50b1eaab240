"""What a sentence encoder costs, from operation counts."""

from clrepro.modalities.run import Cost, Run
from clrepro.settings import Common
from clrepro.sources.source import source
from clrepro.training.epochs import Epochs

TOKENS_PER_SENTENCE = 26  # mean length of the Wikipedia sentences at 32 tokens, special ones included
DEVELOPMENT_SENTENCES = 4000  # STS-B and SICK-R dev, both columns
EVALUATION_SENTENCES = 140_000  # distinct sentences of the seven STS and seven transfer sets
GENERATED_SENTENCES = 6000  # of the demo's


def encoder_size(run: Run) -> tuple[int, int]:
    """(parameters of the transformer layers, of the embeddings)."""
    spec = run.backbone.spec
    if spec["kind"] == "scratch":
        layers, width, vocabulary = spec["layers"], spec["hidden_size"], spec["vocabulary"]
        between = spec["intermediate_size"] or 4 * width
    else:
        size = source(spec["source"]).encoder if spec.get("source") else {}
        layers, width = size.get("layers", 12), size.get("hidden_size", 768)
        vocabulary, between = size.get("vocabulary", 30522), 4 * width
    return layers * (4 * width + 2 * between) * width, (vocabulary + 512) * width


def steps(config: Common, run: Run) -> int:
    lines = config.sentence.corpus_lines or source(config.sentence.corpus).sentences or 0
    trained = Epochs(lines - int(lines * run.recipe.held_out), run.recipe.batch_size)
    return trained.steps_of(run.recipe.epochs) if run.objective else 0


def of_run(config: Common, run: Run) -> Cost:
    """Two operations a weight and token forwards, four backwards; two views; development and test embeddings."""
    layers, embeddings = encoder_size(run)
    count = steps(config, run)
    trained = count * run.recipe.batch_size * 2 * TOKENS_PER_SENTENCE
    selected = count // run.recipe.evaluate_every * DEVELOPMENT_SENTENCES * TOKENS_PER_SENTENCE
    generated = source(config.sentence.tasks).kind == "generated"
    tests = GENERATED_SENTENCES if generated else EVALUATION_SENTENCES
    operations = layers * (6 * trained + 2 * selected + 2 * tests * TOKENS_PER_SENTENCE)
    hours = operations / (config.hardware.teraflops * 1e12) / 3600
    kept = 1 + count // (run.recipe.checkpoint_every or count + 1) if run.objective else 0
    return Cost(hours, kept * 4 * (layers + embeddings) / 1e9)
