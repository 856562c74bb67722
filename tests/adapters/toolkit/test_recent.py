"""The oldest entry is forgotten first."""

from adapters.toolkit.caches import BoundedDict


def test_the_oldest_is_forgotten() -> None:
    recent: BoundedDict[str, int] = BoundedDict(2)
    for place, key in enumerate("abc"):
        recent.put(key, place)
    assert [recent.get(key) for key in "abc"] == [None, 1, 2]
    assert "a" not in recent
    assert "c" in recent


def test_an_entry_added_again_is_the_newest() -> None:
    recent: BoundedDict[str, int] = BoundedDict(2)
    for place, key in enumerate("abac"):
        recent.put(key, place)
    assert [recent.get(key) for key in "abc"] == [2, None, 3]


def test_an_entry_can_be_dropped_twice() -> None:
    recent: BoundedDict[str, int] = BoundedDict()
    recent.put("a", 1)
    recent.drop("a")
    recent.drop("a")
    assert "a" not in recent
