"""Orthonormal anchors."""

import pytest

from clrepro.objectives._anchors import orthonormal_anchors


def test_more_classes_than_dimensions_cannot_be_orthonormal():
    with pytest.raises(ValueError, match="embeddings have only 5 dimensions"):
        orthonormal_anchors(6, 5)
