"""Epochs cut into batches, against cutting them."""

import pytest

from clrepro.training.epochs import Epochs

SIZES = [(examples, size) for examples in (2, 15, 16, 17, 31, 32, 33, 130) for size in (2, 3, 16) if size <= examples]


@pytest.mark.parametrize(("examples", "batch_size"), SIZES)
def test_an_epoch_is_its_batches_less_a_last_one_of_a_single_example(examples, batch_size):
    batches = [range(examples)[start : start + batch_size] for start in range(0, examples, batch_size)]
    if len(batches[-1]) == 1:
        batches.pop()
    epochs = Epochs(examples, batch_size)
    assert epochs.steps == len(batches)
    assert epochs.smallest_batch == min(map(len, batches))
    assert [epochs.steps_of(count) for count in (1, 1.5, 2, 1e-9)] == [
        len(batches), -(-3 * len(batches) // 2), 2 * len(batches), 1,
    ]  # fmt: skip
