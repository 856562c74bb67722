"""WhatsApp as everything outside of this folder knows it."""

from adapters.declaration import Platform, Variable

_STEPS = """\
1. Open https://developers.facebook.com/apps and create an app with the use case WhatsApp.
2. Under WhatsApp, API Setup, add your phone number and copy its Phone number ID. It is no number
   to call.
3. Under Business settings, System users, make a token that never expires, with the rights
   whatsapp_business_messaging and whatsapp_business_management.
4. Under App settings, Basic, copy the App secret.
5. Think of a verify token: any long word. Meta repeats it once.
6. Meta calls Talaria, so it needs a public https address: set http.public_url to it. Under
   WhatsApp, Configuration, enter the callback URL https://YOUR-ADDRESS/hooks/whatsapp and the
   verify token, and subscribe to the field messages."""

PLATFORM = Platform(
    name="whatsapp",
    title="WhatsApp",
    hint=(
        "Your words appear in WhatsApp, on a phone. Bold, italic, code, quotes and simple lists "
        "show; tables don't: use lists. Nothing that you said can be changed or deleted there."
    ),
    icon="M4 20l1.300-4A8 8 0 1 1 8.5 19Zm5-11c0 4 2.5 6 6 6.5",
    variables=(
        Variable(
            name="WHATSAPP_ACCESS_TOKEN",
            about="Turns WhatsApp on. A system user's token, from Business settings.",
            option="token",
            question="The access token, EAA...",
        ),
        Variable(
            name="WHATSAPP_PHONE_NUMBER_ID",
            about="The id of the phone number, from WhatsApp, API Setup.",
            option="phone_number_id",
            question="The phone number ID",
            is_hidden=False,
        ),
        Variable(
            name="WHATSAPP_APP_SECRET",
            about="Proves that Meta sent a request. From App settings, Basic.",
            option="app_secret",
            question="The app secret",
        ),
        Variable(
            name="WHATSAPP_VERIFY_TOKEN",
            about="A word of yours, which Meta repeats when you enter the callback URL.",
            option="verify_token",
            question="The verify token, a long word of yours",
        ),
        Variable(
            name="WHATSAPP_API_BASE_URL",
            about="Another address for Meta's Graph API; ends in its version, such as `/v26.0`.",
            option="base_url",
            kind="http",
        ),
    ),
    needs=lambda _: (
        "WHATSAPP_ACCESS_TOKEN",
        "WHATSAPP_PHONE_NUMBER_ID",
        "WHATSAPP_APP_SECRET",
        "WHATSAPP_VERIFY_TOKEN",
    ),
    steps=_STEPS,
    hello="your number is {name}: {link}",
    needs_address=True,
    clock="https://graph.facebook.com/",
    server="WHATSAPP_API_BASE_URL",
    secret_forms=(r"\bEAA[A-Za-z0-9]{40,}",),
)
