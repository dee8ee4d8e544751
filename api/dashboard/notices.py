"""Sentences that a page shows once after something was done. The address names them; it cannot make one up."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Notice(NamedTuple):
    """One of them, and how it looks."""

    sentence: str
    tone: Literal["good", "bad", "plain"] = "good"


NOTICES: dict[str, Notice] = {
    # Entrance
    "signed_out": Notice("You are signed out.", "plain"),
    "signed_in_elsewhere": Notice("Sign in to go on.", "plain"),
    "verified": Notice("Your address is confirmed. Welcome."),
    "verified_without_trial": Notice(
        "Your address is confirmed. Your mailbox has had its free trial before, so choose a plan to go on.", "plain"
    ),
    "password_changed": Notice("Your password is changed. Sign in with the new one."),
    "address_changed": Notice("Your address is changed. Mail goes to the new one from now on."),
    "mail_sent": Notice("Another link is on its way. Older ones do not work any more."),
    "too_much_mail": Notice("Several links were mailed in the last hour. Look for them, or try again later.", "bad"),
    # Jobs
    "job_deleted": Notice("The job is deleted, with everything that was stored of it."),
    "job_deleted_soon": Notice("The job is deleted. Nobody can fetch its picture; the file follows within minutes."),
    "job_gone_already": Notice("There is nothing left to delete of this job.", "plain"),
    # Admin pages
    "account_blocked": Notice("The account is blocked. What it had in progress was cancelled and is not billed."),
    "account_unblocked": Notice("The account may call again."),
    "plan_changed": Notice("The account is on this plan from now on."),
    "pack_credited": Notice("The pack is credited."),
    "operator_changed": Notice("Done. The owner signs in anew for that."),
    "payment_approved": Notice("The payment is approved, and what was bought is credited."),
    "payment_rejected": Notice("The payment is rejected."),
    "payment_decided_before": Notice("This payment was decided before. Nothing was changed.", "plain"),
    "ledger_check_started": Notice("A check of the ledger was started. Its result is here in a moment."),
    "ledger_check_not_started": Notice("Temporal did not answer, so no check was started.", "bad"),
    # API keys
    "key_revoked": Notice("The key is revoked. Calls with it are refused from now on."),
    # Billing
    "order_placed": Notice("Your order is placed."),
    "order_withdrawn": Notice("The order is withdrawn.", "plain"),
    "order_closed": Notice("This order was closed before.", "plain"),
    "payment_returned": Notice(
        "Thank you. The order is credited as soon as the payment is confirmed, usually within a minute.", "plain"
    ),
    # Products
    "product_created": Notice("The product is registered. Try it on."),
    "product_saved": Notice("The product is saved."),
    "product_archived": Notice("The product is archived. Bring it back whenever you like.", "plain"),
    "product_active": Notice("The product can be tried on again."),
    # Settings
    "logo_on": Notice("Results carry your logo from now on."),
    "logo_off": Notice("Results go out without your logo from now on. It is kept."),
    "logo_kept": Notice("The logo is here and not on results yet. Look at it below, then switch it on."),
    "logo_removed": Notice("The logo is deleted. Results go out without one."),
    "logo_takes_long": Notice("The logo is still being fetched. Look again in a minute.", "plain"),
    "retention_saved": Notice("Saved. It holds for jobs that end from now on."),
    "change_mailed": Notice("A link is on its way to the new address. Open it there to go on."),
    "password_saved": Notice("Your password is changed, and every other browser is signed out."),
    "session_ended": Notice("That browser is signed out."),
    "others_signed_out": Notice("Every other browser is signed out."),
}
