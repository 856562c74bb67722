"""Sentences about models that do not answer."""

from agent_core.events import ModelFault, ModelOutage
from agent_core.localization import Text, format_date
from agent_core.tools import local_time

STOP = Text("Stop")

_UNTIL = {
    "model_busy": Text("The model is overloaded. I'll keep trying until {time}."),
    "model_cut": Text("The model's answers break off. I'll keep trying until {time}."),
    "model_unreachable": Text("I can't reach the model. I'll keep trying until {time}."),
    "model_denied": Text(
        "I can't use my model at the moment. The owner knows why, and I'll answer once it works."
    ),
}
_DATE_TIME = Text("{date}, {time}")
_FAULTS = {
    "model_denied": Text(
        "I can't use the model {model}: its provider rejects the key or the account. It said:"
        " {detail}"
    ),
    "model_unknown": Text(
        "I can't use the model {model}: its provider doesn't have it. It said: {detail}"
    ),
}
_RESUMES = Text(
    "Check the key in .env and [model] in config.toml. Messages that wait for it are answered once"
    " it works."
)


def describe_outage(outage: ModelOutage, zone: str, now: int) -> str:
    """Say that the model does not answer, and until when the turn waits."""
    end, today = local_time(outage.until, zone), local_time(now, zone)
    time = f"{end:%H:%M}"
    if end.date() != today.date():
        time = _DATE_TIME(date=format_date(end), time=time)
    return _UNTIL.get(outage.reason, _UNTIL["model_denied"])(time=time)


def describe_fault(fault: ModelFault) -> str:
    """Tell an owner why a model can't be used, and what to do."""
    shown = _FAULTS[fault.reason](model=fault.model, detail=fault.detail)
    return f"{shown}\n\n{_RESUMES()}"
