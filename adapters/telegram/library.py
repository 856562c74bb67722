"""python-telegram-bot, loaded without its optional parts.

The library imports `cryptography` for Telegram Passport, and httpx imports rich for its command
line: 12 MB of memory that Talaria does not need. Both libraries work without these parts.
"""

from adapters.toolkit.optional_modules import leaving_out

with leaving_out("cryptography", "httpx._main"):
    from telegram import Bot as Bot
    from telegram import BotCommand as BotCommand
    from telegram import InlineKeyboardButton as InlineKeyboardButton
    from telegram import InlineKeyboardMarkup as InlineKeyboardMarkup
    from telegram import InputFile as InputFile
    from telegram import LinkPreviewOptions as LinkPreviewOptions
    from telegram import Message as Message
    from telegram import MessageEntity as MessageEntity
    from telegram import ReplyParameters as ReplyParameters
    from telegram.error import BadRequest as BadRequest
    from telegram.error import ChatMigrated as ChatMigrated
    from telegram.error import Conflict as Conflict
    from telegram.error import Forbidden as Forbidden
    from telegram.error import InvalidToken as InvalidToken
    from telegram.error import NetworkError as NetworkError
    from telegram.error import RetryAfter as RetryAfter
    from telegram.error import TelegramError as TelegramError
    from telegram.error import TimedOut as TimedOut
    from telegram.request import BaseRequest as BaseRequest
    from telegram.request import RequestData as RequestData
