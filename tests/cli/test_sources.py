"""clrepro sources."""

import re

from clrepro.cli.data import sources


def test_the_list_of_sources_says_how_each_is_checked(capsys):
    sources()
    said = dict(re.findall(r"^([\w-]+)  .*?sha256: (.*?)$", capsys.readouterr().out, re.M | re.S))
    assert said["cifar100"] == "learned at the first fetch"
    assert said["imagenet-1k"].startswith("none: the folder is used where it lies")
    assert said["digits"].startswith("none: it is generated")
    assert len(said["cifar10-jpeg"]) == 64
