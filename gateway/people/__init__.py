"""People: identification, linked accounts, rooms, and requests about a person's data."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.people.admission import API_PLATFORM as API_PLATFORM
    from gateway.people.admission import LOCAL_PLATFORM as LOCAL_PLATFORM
    from gateway.people.admission import UNATTENDED as UNATTENDED
    from gateway.people.admission import approve as approve
    from gateway.people.admission import new_claim_code as new_claim_code
    from gateway.people.admission import slug_of as slug_of
    from gateway.people.console_access import LINK_MINUTES as LINK_MINUTES
    from gateway.people.console_access import READING_HOURS as READING_HOURS
    from gateway.people.console_access import ReadingConsent as ReadingConsent
    from gateway.people.console_access import check_pages as check_pages
    from gateway.people.console_access import end_reading as end_reading
    from gateway.people.console_access import hash_secret as hash_secret
    from gateway.people.console_access import is_asked as is_asked
    from gateway.people.console_access import make_link as make_link
    from gateway.people.console_access import make_reading_answerers as make_reading_answerers
    from gateway.people.data_confirmations import DataConfirmations as DataConfirmations
    from gateway.people.data_confirmations import ask_to_erase as ask_to_erase
    from gateway.people.data_confirmations import ask_to_forget as ask_to_forget
    from gateway.people.data_confirmations import may_erase as may_erase
    from gateway.people.data_erase import DataErase as DataErase
    from gateway.people.data_export import DataExport as DataExport
    from gateway.people.data_export import remove_drafts as remove_drafts
    from gateway.people.data_forget import DataForget as DataForget
    from gateway.people.data_requests import DataRequests as DataRequests
    from gateway.people.data_requests import RequestQueue as RequestQueue
    from gateway.people.identity import Identity as Identity
    from gateway.people.linking import Linking as Linking
    from gateway.people.linking import read_link as read_link
    from gateway.people.merging import AccountMerging as AccountMerging
    from gateway.people.merging import UnlinkRequest as UnlinkRequest
    from gateway.people.onboarding import START as START
    from gateway.people.onboarding import Access as Access
    from gateway.people.onboarding import Introduction as Introduction
    from gateway.people.onboarding import Onboarding as Onboarding
    from gateway.people.onboarding import StartRequest as StartRequest
    from gateway.people.onboarding import list_unlinked as list_unlinked
    from gateway.people.owners import LOCAL_CHAT as LOCAL_CHAT
    from gateway.people.owners import Notices as Notices
    from gateway.people.owners import choose_owner as choose_owner
    from gateway.people.owners import find_direct_chat as find_direct_chat
    from gateway.people.owners import find_place as find_place
    from gateway.people.owners import is_out_of_reach as is_out_of_reach
    from gateway.people.room_consent import RoomConsent as RoomConsent
    from gateway.people.room_consent import make_consent_answerers as make_consent_answerers
    from gateway.people.room_privacy import close_questions as close_questions
    from gateway.people.room_privacy import may_show as may_show
    from gateway.people.room_privacy import take_out as take_out
    from gateway.people.rooms import RoomConversation as RoomConversation
    from gateway.people.rooms import Rooms as Rooms
    from gateway.people.rooms import hide_private_quote as hide_private_quote
else:
    __getattr__ = export_lazily(__name__, __file__)
