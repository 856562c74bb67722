"""Sentences of the page that connects a model, and of the pages without one."""

from collections.abc import Mapping

from agent_core.localization import Text

CONNECT = Text("Connect a model")
CONNECT_FIRST = Text("A model is missing.")
MISSING_OWNER = Text(
    "No language model is connected yet, so I can only remind you, keep notes and find things."
)
MISSING_MEMBER = Text(
    "No language model is connected yet, so I can only remind you, keep notes and find "
    "things. An owner can connect one."
)
ANSWERS_NOW = Text("The model {name} answers now.")
FROM_NEXT_START = Text("The model {name} answers after you restart me.")
NEXT_MEMBER = Text("A language model is connected. It answers after an owner restarts me.")
WAITS = Text("A restart is still needed.")
HOW_TO_RESTART = Text(
    "To restart me, press Ctrl-C where `talaria run` runs, and start it again. If I run as a"
    " service, `talaria service install` restarts me."
)
ABOUT = Text(
    "I try the model before I save anything. Its key goes into a file that only I can read, and"
    " never into a chat or a log."
)
WAY = Text("Which one?")
WAYS: Mapping[str, Text] = {
    "anthropic": Text("Claude, by Anthropic"),
    "openai": Text("GPT, by OpenAI"),
    "server": Text("Another server with OpenAI's API, such as Ollama"),
}
KEY = Text("Key")
HINT_KEY = Text(
    "For Claude, make one at console.anthropic.com; for GPT, at platform.openai.com. A server of"
    " your own often needs none. Leave the field empty to keep the present key."
)
ADDRESS = Text("Address of the server")
HINT_ADDRESS = Text(
    "Fill this in only for another server. The example is the address of Ollama on this computer."
)
NAME = Text("Name of the model")
HINT_NAME = Text("Leave the field empty for the usual model.")
TRY = Text("Try it and save")
HERE = Text("Models on this computer")
LOOK = Text("Look for models on this computer")
NOTHING_HERE = Text(
    "No model server answers on this computer. Start Ollama, LM Studio, llama.cpp or vLLM, and"
    " look again."
)
SEARCH_OFF = Text("The search is switched off, so I don't look for models.")
SWITCH_ON = Text("Change that")
USE_NAMED = Text("Use {name}")
ON_SERVER = Text("{name} ({title})")
SAVED = Text("The model {name} works and is saved. It answers after you restart me.")
IN_ENVIRONMENT = Text(
    "Not saved: the environment variable {name} is set already, and its value wins. Change it where"
    " Talaria is started, such as in the service's file or compose.yaml."
)
KEY_MISSING = Text("Paste the key here.")
KEY_OF_ANOTHER = Text(
    "The present key is for another server, so I don't send it to this one. Paste this"
    " server's key, or any word if it needs none."
)
KEY_REFUSED = Text("The key is not accepted. Copy it again, all of it.")
ADDRESS_WRONG = Text(
    "No server with OpenAI's API answers at this address. The address usually ends in /v1."
)
SILENT = Text(
    "The server can't be reached. Check its address and the network, and whether it runs."
)
NO_SUCH_MODEL = Text("The server doesn't have this model. It has: {names}.")
NO_MODEL = Text("The server doesn't have this model. Check its name.")
NOT_SAVED = Text("Nothing is saved. Details: “{reason}”")
