"""How sentence encoders are evaluated: SentEval's STS and transfer tasks, as SimCSE's fork computes them."""

from clrepro.evaluation.senteval.files import TRANSFER_TASKS
from clrepro.evaluation.senteval.pairs import STS_SUBSETS, STS_TASKS
from clrepro.modalities.evaluation import Evaluation, Resources, Score


def sts_row(kind: str, task: str) -> tuple[str, str]:
    """The `all` setting of STS12-16, the only correlation of the others."""
    return task, "spearman_all" if task in STS_SUBSETS else "spearman"


def transfer_row(kind: str, task: str) -> tuple[str, str]:
    return task, "accuracy"


STS = Evaluation(
    name="sts",
    described="seven STS sets",
    scores={"sts": Score(factor=100, tasks=STS_TASKS)},
    row=sts_row,
    work="clrepro.modalities.sentence.sts_scores:evaluate",
    code=("clrepro.modalities.sentence.sts_scores",),
    protocol=lambda config, settings: None,
    resources=Resources(4000, 60),
    every_tabled_run=True,
)
TRANSFER = Evaluation(
    name="transfer",
    described="seven transfer tasks",
    scores={"transfer": Score(tasks=TRANSFER_TASKS), "transfer_dev": Score(split="dev", tasks=TRANSFER_TASKS)},
    row=transfer_row,
    work="clrepro.modalities.sentence.transfer_scores:evaluate",
    code=("clrepro.modalities.sentence.transfer_scores",),
    protocol=lambda config, settings: config.sentence.protocol,
    resources=Resources(8000, 240, threads=True),
    every_tabled_run=True,
)
