"""A turn from its queued messages to its end: lanes, the runner, what is shown, the finalizer."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from gateway.turns.attachment_stage import AttachmentStage
    from gateway.turns.call_approvals import make_call_answerers
    from gateway.turns.client_calls import READ_ONLY, Client, ClientCalls, ClientRate
    from gateway.turns.crash_backoff import CRASH_WAIT
    from gateway.turns.finalizer import START_DELAY, TurnDeps
    from gateway.turns.handle import TurnHandles
    from gateway.turns.lanes import LaneDeps, Lanes
    from gateway.turns.presenter import PresenterTimings
    from gateway.turns.proposals import (
        CHOICES,
        MOST_ASKED,
        PROPOSAL_TASK,
        AcceptedProposals,
        ask_about_claim,
        bring_back,
        list_held,
        list_refused,
        make_learned_buttons,
        make_proposal_answerers,
        name_change,
        take_held,
    )
    from gateway.turns.runner import TurnRunner
    from gateway.turns.server_forms import ServerForms
    from gateway.turns.spoken_answers import SPEECH_TASK, SpokenAnswers
    from gateway.turns.user_prompts import ANSWER_PATIENCE, UserPrompts
else:
    __getattr__ = export_lazily(__name__, __file__)
