"""What the start leaves out for speed loads once it is over, and not before."""

import asyncio
from pathlib import Path

import pytest

from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.foreground import _keep_company
from gateway.interfaces.http.application import ApiRoute
from tests.fakes.model import FakeModel
from tests.integration.harness import running


class PreparedModel(FakeModel):
    """Counts how often its code was asked for."""

    prepared = 0

    def prepare(self) -> None:
        self.prepared += 1


async def test_the_model_is_prepared_right_after_the_banner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = PreparedModel()
    printed: list[str] = []
    async with running(tmp_path, model) as harness:
        assert model.prepared == 0
        harness.gateway.ready.connect(lambda _: printed.append(capsys.readouterr().out))
        company = asyncio.create_task(_keep_company((), asyncio.Event(), harness.gateway))
        await harness.until(lambda: bool(printed))
        company.cancel()
    assert "Ready." in printed[0]
    assert model.prepared == 1


async def test_the_routes_of_the_api_load_before_its_first_request(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        route = ApiRoute(harness.gateway, ApiAccess(harness.gateway, ""))
        assert route._application is None
        harness.gateway.ready.emit(None)
        assert route._application
        await route._application
