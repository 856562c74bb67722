"""A turn from its queued messages to its end: lanes, the runner, what is shown, the finalizer."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.turns.attachment_stage import AttachmentStage as AttachmentStage
    from gateway.turns.call_approvals import make_call_answerers as make_call_answerers
    from gateway.turns.client_calls import READ_ONLY as READ_ONLY
    from gateway.turns.client_calls import Client as Client
    from gateway.turns.client_calls import ClientCalls as ClientCalls
    from gateway.turns.client_calls import ClientRate as ClientRate
    from gateway.turns.crash_backoff import CRASH_WAIT as CRASH_WAIT
    from gateway.turns.finalizer import START_DELAY as START_DELAY
    from gateway.turns.finalizer import TurnDeps as TurnDeps
    from gateway.turns.handle import TurnHandles as TurnHandles
    from gateway.turns.lanes import LaneDeps as LaneDeps
    from gateway.turns.lanes import Lanes as Lanes
    from gateway.turns.presenter import PresenterTimings as PresenterTimings
    from gateway.turns.proposals import ACCEPT as ACCEPT
    from gateway.turns.proposals import CHOICES as CHOICES
    from gateway.turns.proposals import MOST_ASKED as MOST_ASKED
    from gateway.turns.proposals import PROPOSAL_TASK as PROPOSAL_TASK
    from gateway.turns.proposals import AcceptedProposals as AcceptedProposals
    from gateway.turns.proposals import ask_about_claim as ask_about_claim
    from gateway.turns.proposals import bring_back as bring_back
    from gateway.turns.proposals import find_doubt as find_doubt
    from gateway.turns.proposals import list_held as list_held
    from gateway.turns.proposals import list_refused as list_refused
    from gateway.turns.proposals import make_learned_buttons as make_learned_buttons
    from gateway.turns.proposals import make_proposal_answerers as make_proposal_answerers
    from gateway.turns.proposals import name_change as name_change
    from gateway.turns.proposals import take_held as take_held
    from gateway.turns.runner import TurnRunner as TurnRunner
    from gateway.turns.server_forms import ServerForms as ServerForms
    from gateway.turns.spoken_answers import SPEECH_TASK as SPEECH_TASK
    from gateway.turns.spoken_answers import SpokenAnswers as SpokenAnswers
    from gateway.turns.user_prompts import ANSWER_PATIENCE as ANSWER_PATIENCE
    from gateway.turns.user_prompts import UserPrompts as UserPrompts
else:
    __getattr__ = export_lazily(__name__, __file__)
