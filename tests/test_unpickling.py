"""Nothing in the package unpickles or unpacks but the few places named here."""

import ast

from clrepro.paths import ROOT


def calls(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), {word.arg: ast.unparse(word.value) for word in node.keywords}


def test_nothing_else_unpickles_or_unpacks():
    """The few places are named here; a new one has to be looked at."""
    unpacking = {"extractall": ["unpack.py"], "extract": [], "unpack_archive": [], "extractfile": ["archives.py"]}
    seen = 0
    for file in [*(ROOT / "src").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]:
        tree = ast.parse(file.read_text("utf-8"))
        for name, words in calls(tree):
            place, last = f"{file.name}: {name}", name.rpartition(".")[2]
            assert name not in {"pickle.load", "pickle.loads", "joblib.load", "yaml.unsafe_load", "eval", "exec"}, place
            if name == "torch.load":
                assert words.get("weights_only") == "True", place
            assert words.get("allow_pickle", "False") == "False", place
            assert words.get("trust_remote_code", "False") == "False", place
            if last in unpacking and "archive" in name:
                assert file.name in unpacking[last], place
                seen += 1
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert "pickle" not in imported or file.name == "archives.py", file.name
    assert seen == 2
