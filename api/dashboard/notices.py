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
    "signed_in_elsewhere": Notice("Sign in to continue.", "plain"),
    "verified": Notice("Your address is confirmed. Welcome."),
    "verified_without_trial": Notice(
        "Your address is confirmed. You have already used the free trial, so choose a plan to continue.", "plain"
    ),
    "password_changed": Notice("Your password was changed. Sign in with the new one."),
    "address_changed": Notice("Your address was changed. Mail now goes to the new one."),
    "mail_sent": Notice("We sent another link. Earlier links no longer work."),
    "too_much_mail": Notice("We sent several links in the last hour. Check your mail, or try again later.", "bad"),
    # Jobs
    "job_deleted": Notice("Picture and inputs are deleted. The billing record stays."),
    "job_deleted_soon": Notice("The picture is out of reach and is deleted within minutes. The billing record stays."),
    "job_gone_already": Notice("There is nothing left to delete for this job.", "plain"),
    # Admin pages
    "account_blocked": Notice("The account is blocked. Its jobs in progress were cancelled and are not billed."),
    "account_unblocked": Notice("The account is unblocked."),
    "plan_changed": Notice("The account is now on this plan."),
    "pack_credited": Notice("The pack is credited."),
    "operator_changed": Notice("Done. The owner has to sign in again."),
    "payment_approved": Notice("The payment is approved and the order is credited."),
    "payment_rejected": Notice("The payment is rejected."),
    "payment_decided_before": Notice("This payment was already decided. Nothing was changed.", "plain"),
    "ledger_check_started": Notice("The ledger check has started. Its result appears here in a moment."),
    "ledger_check_not_started": Notice("Temporal did not answer, so the check was not started.", "bad"),
    # API keys
    "key_revoked": Notice("The key is revoked and no longer works."),
    # Billing
    "order_placed": Notice("Your order is placed."),
    "order_withdrawn": Notice("The order is withdrawn.", "plain"),
    "order_closed": Notice("This order was already closed.", "plain"),
    "payment_returned": Notice(
        "Thank you. We credit the order when the payment is confirmed, usually within a minute.", "plain"
    ),
    # Products
    "product_created": Notice("The product is registered."),
    "product_saved": Notice("The product is saved."),
    "product_archived": Notice("The product is archived. You can bring it back at any time.", "plain"),
    "product_active": Notice("The product can be tried on again."),
    # Settings
    "logo_on": Notice("Results now carry your logo."),
    "logo_off": Notice("Results no longer carry your logo. We keep the logo."),
    "logo_kept": Notice("The logo is saved but not on results yet. Check it below, then turn it on."),
    "logo_removed": Notice("The logo is deleted. Results no longer carry one."),
    "logo_takes_long": Notice("The logo is still being fetched. Reload the page in a minute.", "plain"),
    "retention_saved": Notice("Saved. Applies to jobs that finish from now on."),
    "change_mailed": Notice("We sent a link to the new address. Open it to confirm the change."),
    "password_saved": Notice("Your password was changed, and all other browsers were signed out."),
    "session_ended": Notice("That browser was signed out."),
    "others_signed_out": Notice("All other browsers were signed out."),
}
