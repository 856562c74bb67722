"""People: identification, linked accounts, rooms, and requests about a person's data."""

from gateway.people.data_confirmations import DataConfirmations as DataConfirmations
from gateway.people.data_confirmations import ask_to_erase as ask_to_erase
from gateway.people.data_confirmations import ask_to_forget as ask_to_forget
from gateway.people.data_confirmations import may_erase as may_erase
from gateway.people.data_erase import DataErase as DataErase
from gateway.people.data_export import DataExport as DataExport
from gateway.people.data_forget import DataForget as DataForget
from gateway.people.data_requests import DataRequests as DataRequests
from gateway.people.data_requests import RequestQueue as RequestQueue
from gateway.people.identity import LOCAL_PLATFORM as LOCAL_PLATFORM
from gateway.people.identity import Access as Access
from gateway.people.identity import Identity as Identity
from gateway.people.identity import approve as approve
from gateway.people.identity import new_claim_code as new_claim_code
from gateway.people.identity import slug_of as slug_of
from gateway.people.linking import Linking as Linking
from gateway.people.linking import read_link as read_link
from gateway.people.merging import AccountMerging as AccountMerging
from gateway.people.merging import UnlinkRequest as UnlinkRequest
from gateway.people.owners import Notices as Notices
from gateway.people.owners import choose_owner as choose_owner
from gateway.people.owners import find_direct_chat as find_direct_chat
from gateway.people.rooms import RoomConversation as RoomConversation
from gateway.people.rooms import Rooms as Rooms
