"""Text from outside stays text."""

from tests.report.page.reading import EVIL, check_links, parse, small


def poisoned(node, poison):
    """The data with `poison` at the end of every text; ids stay in step because all get the same."""
    if isinstance(node, dict):
        names = {"kind", "csv", "md", "tex", "svg", "png", "image"}
        return {key: value if key in names else poisoned(value, poison) for key, value in node.items()}
    if isinstance(node, list):
        return [poisoned(value, poison) for value in node]
    return node + poison if isinstance(node, str) else node


def outline(root):
    return [(node.tag, sorted(node.attributes)) for node in root.walk()]


def test_hostile_text_stays_text():
    calm, hostile = (parse(poisoned(small(), poison)) for poison in (" calm", EVIL))
    assert outline(hostile) == outline(calm)
    assert [node.text for node in hostile.find("script")[1:]] == [node.text for node in calm.find("script")[1:]]
    assert hostile.find("h3")[0].text.endswith(EVIL)
    assert not set("<>&") & set(hostile.find("script")[0].text)  # nothing in the JSON can open or close an element


def test_hostile_names_stay_names():
    made = small()
    folder, run = next(iter(made["runs"].items()))
    made["runs"] = {folder + EVIL: run | {"parameters": {EVIL: 1}}}
    for paper in made["papers"]:
        paper["verdicts"] = {EVIL: 3}
    root = parse(made)
    assert not [node for node in root.find("img") if "onerror" in node.attributes]
    check_links(root)
