-- The text of a message was stored twice: in `text`, and within `parts`. `leave_out_text` is a function
-- of the program; see `transcript.py`. Damaged rows stay as they are.
UPDATE messages SET
    parts = leave_out_text(parts, text),
    checksum = checksum(role, leave_out_text(parts, text), text)
WHERE checksum = checksum(role, parts, text);
