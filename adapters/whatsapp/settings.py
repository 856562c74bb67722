"""WhatsApp's settings."""

from typing import Annotated

from pydantic import Field

from adapters.toolkit.table import ON_PAGE, Table, Text, read_address

API = "https://graph.facebook.com/v26.0"


class WhatsAppTable(Table, title="WhatsApp", on_page=True):
    """Sets the rate of the WhatsApp adapter, and what it may send after a day of silence."""

    messages_per_second: float = Field(80.0, ge=0, le=1000)
    """Most new messages per second. 0 for no limit. WhatsApp allows 80 for each number."""
    template: Annotated[Text, ON_PAGE] = ""
    """The name of an approved template whose body has one variable, for messages more than 24 hours
    after a person wrote. Without it, they wait until the person writes again. Meta charges for it.
    """
    template_language: Annotated[Text, ON_PAGE] = "en"
    """The language of the template, as Meta spells it: `en`, `en_US`, `de`."""

    report_seconds: float = Field(90.0, ge=1, le=900)
    """Seconds that Meta has to report a message whose answer was lost. Without a report, it is sent
    again.
    """


TABLE = WhatsAppTable


class WhatsAppSettings(WhatsAppTable):
    """The adapter's settings: the table, the number, and durations in seconds that nobody sets."""

    token: str = Field(repr=False)
    phone_number_id: str
    app_secret: str = Field(repr=False)
    """Signs Meta's requests."""
    verify_token: str = Field(repr=False)
    base_url: str = API
    """The part of the address before /PHONE_NUMBER_ID; ends in the version."""
    answer_timeout: float = 25.0
    check_interval: float = 60.0
    """Seconds between two questions whether Meta still answers and takes the token."""
    longest_pause: float = 60.0
    """Upper bound of the backoff while Meta is unreachable."""
    window: float = 24 * 3600.0
    """Seconds after a person's message in which anything may be sent to them."""


def make_settings(
    table: WhatsAppTable,
    *,
    token: str,
    phone_number_id: str = "",
    app_secret: str = "",
    verify_token: str = "",
    base_url: str | None = None,
) -> WhatsAppSettings:
    """Add the number to the table. Raises `ValueError` with a sentence for the person."""
    if not phone_number_id:
        raise ValueError(
            "WhatsApp needs the id of its phone number: WHATSAPP_PHONE_NUMBER_ID, from WhatsApp,"
            " API Setup, on your app's page."
        )
    if not (phone_number_id.isascii() and phone_number_id.isdecimal()):
        raise ValueError(
            "WHATSAPP_PHONE_NUMBER_ID does not look like an id, which has only digits. It is not"
            " the phone number; both are under WhatsApp, API Setup, on your app's page."
        )
    if not app_secret:
        raise ValueError(
            "WhatsApp needs the app's secret, which proves that Meta sent a message:"
            " WHATSAPP_APP_SECRET, from App settings, Basic, on your app's page."
        )
    if not verify_token:
        raise ValueError(
            "WhatsApp needs WHATSAPP_VERIFY_TOKEN: any long word, which you also enter under"
            " WhatsApp, Configuration, on your app's page."
        )
    server = read_address(
        "WHATSAPP_API_BASE_URL", base_url, API, hint=": what stands before /PHONE_NUMBER_ID"
    )
    return WhatsAppSettings(
        **dict(table),
        token=token,
        phone_number_id=phone_number_id,
        app_secret=app_secret,
        verify_token=verify_token,
        base_url=server.rstrip("/"),
    )
