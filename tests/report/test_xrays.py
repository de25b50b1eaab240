"""The documented x-rays."""

from clrepro.report import xrays


def test_the_documented_xrays_are_of_todays_code():
    assert xrays.stale() == [], "run `make docs`"
