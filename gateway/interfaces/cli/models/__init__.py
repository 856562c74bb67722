"""`talaria models`: lists the configured models with their prices, and updates the price table."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.models.listing import list_prices as list_prices
    from gateway.interfaces.cli.models.update import update_prices as update_prices
else:
    __getattr__ = export_lazily(__name__, __file__)
