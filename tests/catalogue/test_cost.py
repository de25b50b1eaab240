"""The price of a scale."""

from clrepro.catalogue import cost
from clrepro.modalities.image.plan import IMAGE


def test_the_price_of_the_paper_scale_is_of_the_right_order(paper_scale):
    price = cost.of_runs(paper_scale, paper_scale.runs)
    assert 300 < price.hours < 3000  # the anchors paper names 1100 to 1300 minutes for one training on an older GPU
    images = cost.of_runs(paper_scale, tuple(run for run in paper_scale.runs if run.plan is IMAGE))
    assert 20 < price.hours - images.hours < 500
    assert 40 < price.gigabytes < 250
