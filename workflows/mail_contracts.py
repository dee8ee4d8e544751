"""What crosses Temporal when mail is sent: its id alone. Addresses and links stay in the database."""

from __future__ import annotations

from typing import Literal

from workflows.contracts import Contract, Identifier


class SendMailInput(Contract):
    """Send a message that lies in the database."""

    mail_id: Identifier


class MailReport(Contract):
    """What became of it: ``gone`` is one that was deleted before it was sent."""

    outcome: Literal["sent", "refused", "gone"]
