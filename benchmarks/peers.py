"""Which loss of which library is which of ours: ``CASES``, used by objectives.py.

The factors are checked by every run of the benchmark. Losses that look alike and are not listed:
lightly's DCLWLoss keeps its weights constant (ours, sigma = 0.5, has their gradient), sentence-transformers has NT-Xent
only per direction, and no library has the one-directional DCL.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from clrepro.objectives import make

OURS = "ours"
LIGHTLY, PML, SBERT = "lightly", "pytorch-metric-learning", "sentence-transformers"

Loss = Callable[[Tensor, Tensor], Tensor]


def lightly(name: str, **params: float) -> Loss:
    """A loss module of lightly; it normalises by itself."""
    import lightly.loss

    return getattr(lightly.loss, name)(**params)


def pml_self_supervised(name: str, symmetric: bool, **params: float) -> Loss:
    """A pair loss of pytorch-metric-learning on two views: symmetric = 2N anchors, else view 1 against view 2."""
    from pytorch_metric_learning import losses

    return losses.SelfSupervisedLoss(getattr(losses, name)(**params), symmetric=symmetric)


def pml_vicreg(**params: float) -> Loss:
    from pytorch_metric_learning import losses

    loss = losses.VICRegLoss(**params)
    return lambda view1, view2: loss(view1, ref_emb=view2)


def multiple_negatives_ranking(scale: float) -> Loss:
    """sentence-transformers' loss from the embeddings on, without the encoder."""
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    loss = MultipleNegativesRankingLoss(model=None, scale=scale)
    return lambda view1, view2: loss.compute_loss_from_embeddings([view1, view2], None)


@dataclass(frozen=True)
class Peer:
    """The same loss elsewhere: ours = factor * peer."""

    package: str
    label: str
    build: Callable[[], Loss]
    factor: float = 1.0

    @property
    def name(self) -> str:
        return f"{self.package} {self.label}"


@dataclass(frozen=True)
class Case:
    """One of our objectives and its peers."""

    objective: str
    variant: str
    params: dict
    peers: tuple[Peer, ...] = ()

    @property
    def key(self) -> str:
        return "/".join([self.objective, self.variant, *(v for v in self.params.values() if isinstance(v, str))])

    def implementations(self) -> dict[str, Callable[[], Loss]]:
        """Builders by name, ours first."""
        return {OURS: lambda: make(self.objective, self.variant, **self.params)} | {p.name: p.build for p in self.peers}


def pml_pairs(symmetric: bool, temperature: float) -> tuple[Peer, ...]:
    """NTXentLoss and SupConLoss: with one positive per anchor they are the same loss."""
    return tuple(
        Peer(
            PML,
            f"SelfSupervisedLoss({name})" if symmetric else f"SelfSupervisedLoss({name}, symmetric=False)",
            lambda name=name: pml_self_supervised(name, symmetric, temperature=temperature),
        )
        for name in ("NTXentLoss", "SupConLoss")
    )


CASES = (
    Case(
        "infonce",
        "released",
        {"temperature": 0.05},
        (
            Peer(SBERT, "MultipleNegativesRankingLoss", lambda: multiple_negatives_ranking(20.0)),
            *pml_pairs(False, 0.05),
        ),
    ),
    Case(
        "nt_xent",
        "written",
        {"temperature": 0.1},
        (Peer(LIGHTLY, "NTXentLoss", lambda: lightly("NTXentLoss", temperature=0.1)), *pml_pairs(True, 0.1)),
    ),
    Case(
        "dcl",
        "original",
        {"temperature": 0.1},
        (Peer(LIGHTLY, "DCLLoss", lambda: lightly("DCLLoss", temperature=0.1), factor=2.0),),
    ),
    Case(
        "dcl",
        "released",
        {"temperature": 0.1, "negatives": "both"},
        (Peer(LIGHTLY, "DCLLoss", lambda: lightly("DCLLoss", temperature=0.1)),),
    ),
    Case("dcl", "released", {"temperature": 0.05}),
    Case(
        "barlow_twins",
        "original",
        {"lam": 0.0051},
        (Peer(LIGHTLY, "BarlowTwinsLoss", lambda: lightly("BarlowTwinsLoss", lambda_param=0.0051)),),
    ),
    Case(
        "vicreg",
        "original",
        {"invariance": 25.0, "variance": 25.0, "covariance": 1.0},
        (
            Peer(LIGHTLY, "VICRegLoss", lambda: lightly("VICRegLoss", lambda_param=25, mu_param=25, nu_param=1)),
            Peer(PML, "VICRegLoss", lambda: pml_vicreg(invariance_lambda=25, variance_mu=25, covariance_v=1)),
        ),
    ),
    Case(
        "macl",
        "released",
        {"base_temperature": 0.1, "alpha": 0.5, "negatives": "both"},
        (Peer(LIGHTLY, "MACLLoss", lambda: lightly("MACLLoss", temperature=0.1, alpha=0.5, A_0=0.0)),),
    ),
)
