"""How graph encoders are evaluated: a support vector machine on embeddings, and fine-tuning on molecules."""

from clrepro.modalities.evaluation import Evaluation, Resources, Score
from clrepro.modalities.graph.forms import SvmForm
from clrepro.modalities.graph.molecules.evaluations import MOLECULES


def of_svm(how: dict, kind: str) -> str:
    costs = how["costs"]
    return (
        f"SVM with RBF kernel (gamma {how['gamma']}) on frozen embeddings: mean accuracy of {how['folds']} stratified "
        f"folds, drawn by the run's seed; C from {costs[0]:g} to {costs[-1]:g} by {how['inner_folds']} folds of each "
        "training part."
    )


SVM = Evaluation(
    name="svm",
    described="an SVM on graph embeddings",
    scores={"svm": Score()},
    settings={"svm": SvmForm},
    caption=of_svm,
    resources=Resources(8000, 240),
    work="clrepro.modalities.graph.svm:evaluate",
    code=("clrepro.modalities.graph.svm", "clrepro.modalities.graph.stored"),
)
EVALUATIONS = (SVM, *MOLECULES)
