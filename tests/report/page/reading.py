"""The page read back: its elements, its links, and a small one."""

import copy
import random
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

from clrepro.report import page

sys.path.insert(0, str(Path(__file__).parents[2] / "browser"))
from sample import sample

VOID = {"meta", "link", "br", "img", "input", "hr", "use", "path", "rect", "line", "circle"}
EVIL = '</script></style><img src=x onerror="alert(1)">\'&{{ 7*7 }}'


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children, self.parts = [], []

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, *tags):
        return [node for node in self.walk() if node.tag in tags]

    def above(self):
        node = self.parent
        while node:
            yield node
            node = node.parent

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)


class Tree(HTMLParser):
    """A strict reader: every element that is opened is closed, in order."""

    def __init__(self, html):
        super().__init__()
        self.root = self.here = Node("", (), None)
        self.feed(html)
        self.close()
        assert self.here is self.root, f"<{self.here.tag}> is never closed"

    def handle_starttag(self, tag, attributes):
        node = Node(tag, attributes, self.here)
        assert len(node.attributes) == len(attributes), f"<{tag}> has an attribute twice"
        self.here.children.append(node)
        self.here.parts.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.here = self.here.parent

    def handle_endtag(self, tag):
        assert tag == self.here.tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.parts.append(data)


def parse(data):
    return Tree(page.render(data)).root


SMALL = sample(random.Random(1))


def small():
    """One paper, one run, and one or two of everything else."""
    made = SMALL | {"papers": [paper for paper in SMALL["papers"] if paper["key"] == "nie2023"]}
    made["runs"] = dict(list(SMALL["runs"].items())[:1])
    made = copy.deepcopy(made)
    (kept,) = made["papers"]
    kept["tables"][0]["parts"][0]["rows"] = kept["tables"][0]["parts"][0]["rows"][:2]
    made["claims"] = [claim for claim in made["claims"] if claim["paper"] == "nie2023"][:2]
    made["theory"] = made["theory"][:2]
    made["problems"] = [{"file": "runs/a/record.json", "what": "is no JSON.", "remedy": "Delete it and run again."}]
    return made


def ids_of(root):
    return [node.attributes["id"] for node in root.walk() if "id" in node.attributes]


def check_links(root):
    """Ids are unique, links within the page arrive, all others are files beside it."""
    ids = ids_of(root)
    assert len(ids) == len(set(ids))
    for node in root.walk():
        for name in ("href", "src"):
            link = node.attributes.get(name)
            if link is not None:
                assert not re.match(r"(?i)\s*(https?:|//|javascript:|file:)", link), link
                assert not link.startswith("#") or link[1:] in ids, link
        for name in ("aria-labelledby", "aria-controls", "for"):
            assert node.attributes.get(name) is None or node.attributes[name] in ids
