"""Labels of the splits of a set."""

import numpy as np
import torch

from clrepro.evaluation.labels import class_count


def test_there_is_a_class_for_every_label_of_any_split():
    assert class_count(np.array([0, 4]), np.array([1, 2])) == class_count(np.array([0, 1]), np.array([4, 2])) == 5
    assert class_count(torch.tensor([3, 0])) == 4
