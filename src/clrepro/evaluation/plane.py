"""Embeddings in two dimensions (huang2023, figure 4).

The paper shows UMAP. Its program is no dependency of this project, and a picture that changes its method with what
happens to be installed is none that one can reproduce: here it is always t-SNE (van der Maaten and Hinton 2008) by
scikit-learn, from PCA, and the picture says so. Both show who is whose neighbour; distances between far clusters mean
nothing in either.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from clrepro.errors import UserError

COMPONENTS = 50  # of PCA, which t-SNE starts from: as its authors recommend
PERPLEXITY = 30.0


def places(embeddings: np.ndarray, seed: int = 0, perplexity: float = PERPLEXITY) -> np.ndarray:
    """(n, 2) float32 of (n, D); the same for the same seed on one machine.

    One thread: sums in another order would move every point.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

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
