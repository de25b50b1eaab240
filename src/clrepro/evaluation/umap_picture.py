"""Embeddings in two dimensions, a colour a class (huang2023, figure 4).

The paper shows UMAP. Its program is no dependency of this project, and a picture that changes its method with what
happens to be installed is none that one can reproduce: here it is always t-SNE (van der Maaten and Hinton 2008) by
scikit-learn, from PCA, and the picture says so. Both show who is whose neighbour; distances between far clusters mean
nothing in either.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from clrepro.errors import UserError
from clrepro.report import plotting

COMPONENTS = 50  # of PCA, which t-SNE starts from: as its authors recommend
PERPLEXITY = 30.0
SAID = (
    "t-SNE in place of the paper's UMAP: unit rows, {components} principal components, perplexity {perplexity:g}, "
    "seed {seed}. A colour a class ({classes}); axes have no unit, and distances between clusters mean little."
)


def places(embeddings: np.ndarray, seed: int = 0, perplexity: float = PERPLEXITY) -> np.ndarray:
    """(n, 2) float32 of (n, D); the same for the same seed on one machine.

    One thread: sums in another order would move every point.
    """
    rows = np.asarray(embeddings, np.float64)
    if len(rows) <= perplexity:
        raise UserError(f"{len(rows)} embeddings are too few for t-SNE at perplexity {perplexity:g}; give more of them")
    if not np.isfinite(rows).all():
        raise UserError("embeddings are not finite: the training diverged; lower its learning rate")
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    with threadpool_limits(1):
        reduced = PCA(min(COMPONENTS, *rows.shape), svd_solver="covariance_eigh").fit_transform(rows)
        tsne = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
        return tsne.fit_transform(reduced.astype(np.float32))


def picture(panels: dict[str, tuple[np.ndarray, np.ndarray]], seed: int = 0, perplexity: float = PERPLEXITY) -> Figure:
    """A panel a model: title -> (places (n, 2), labels (n,)); a class has one colour in all of them."""
    classes = np.unique(np.concatenate([labels for _, labels in panels.values()]))
    # neighbouring class numbers lie far apart on the circle of hues
    hues = np.arange(len(classes)) * 0.618034 % 1
    with plotting.style():
        figure, axes = plotting.new(1, len(panels), width=3.6, height=3.6)
        for axis, (title, (points, labels)) in zip(axes[0], panels.items(), strict=True):
            colours = colormaps["hsv"](hues[np.searchsorted(classes, labels)])
            axis.scatter(*points.T, c=colours, s=3, linewidths=0, alpha=0.8, rasterized=True)
            axis.set_title(f"{title} (t-SNE)")
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_aspect("equal", adjustable="datalim")
        said = dict(components=COMPONENTS, perplexity=perplexity, seed=seed, classes=len(classes))
        plotting.footnote(figure, SAID.format(**said))
    return figure
