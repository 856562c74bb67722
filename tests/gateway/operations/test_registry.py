"""Every operation has typed requests and answers, and the registry finds it by its name."""

import ast

from gateway.operations import registry
from tests.architecture.source import ROOT
from tests.tables import check_each


def list_operations() -> list[tuple[str, str]]:
    """Return each operation's name with the expression that makes it."""
    found = []
    for path in sorted((ROOT / "gateway" / "operations").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.AnnAssign) or ast.unparse(node.target) != "OPERATIONS":
                continue
            assert isinstance(node.value, ast.Dict), path
            pairs = zip(node.value.keys, node.value.values, strict=True)
            found += [(ast.literal_eval(key), ast.unparse(made)) for key, made in pairs if key]
    return found


def test_each_operation_is_typed_and_found() -> None:
    def check(row: tuple[str, str]) -> None:
        name, made = row
        assert made.startswith("typed("), made
        assert registry.find_operation(name) is not None

    listed = list_operations()
    assert len(listed) > 100
    check_each(listed, check)
