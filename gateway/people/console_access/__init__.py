"""Access of people to their pages of the console: one-time links, and consent to be read."""

from gateway.people.console_access.links import LINK_MINUTES as LINK_MINUTES
from gateway.people.console_access.links import check_pages as check_pages
from gateway.people.console_access.links import hash_secret as hash_secret
from gateway.people.console_access.links import make_link as make_link
