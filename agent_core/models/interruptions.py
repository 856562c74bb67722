"""Tell the second break of an answer from the first."""

from collections import OrderedDict

from agent_core.models.contract import ModelRequest

_MOST = 256


class Interruptions:
    """Remembers how requests broke off.

    Some servers end each stream without a sign. Asking again helps once; after that, the same
    break would only be paid again.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[int, str] = OrderedDict()

    def is_second(
        self, request: ModelRequest, cut: Exception | None = None, words: str = ""
    ) -> bool:
        """Note a break; return True if the same request broke off before in the same way.

        The streams both ended early, or both were `cut` by the same error, behind the same words.
        A caller leaves the words out if its servers may end every stream without a sign.
        """
        how = f"{type(cut).__name__}: {words}"
        key = hash((request.model, request.messages))
        if self._seen.pop(key, None) == how:
            return True
        self._seen[key] = how
        if len(self._seen) > _MOST:
            self._seen.popitem(last=False)
        return False
