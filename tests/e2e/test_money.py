from __future__ import annotations

import csv
import io
import json
import re

from playwright.async_api import Browser, expect

from tests.e2e.person import Person
from tests.e2e.site import Site


async def test_a_plan_and_a_pack_are_ordered_approved_and_in_the_ledger(chromium: Browser, site: Site) -> None:
    async with Person.before(chromium, site) as owner, Person.before(chromium, site) as operator:
        await owner.sign_up()
        await operator.sign_up()
        await operator.become_operator()

        await owner.visit("Billing")
        await owner.reads("Packs need a plan.")
        await owner.press("Choose Growth")
        await owner.sees_heading("Change to Growth")
        await owner.press("Order Growth for $149.00")
        await operator.open("/admin/payments")
        await operator.press(f"Approve Growth plan, first month of {owner.email}")
        await operator.press("Approve $149.00")
        await operator.reads("The payment is approved")

        await owner.visit("Billing")
        await owner.press("250 for $40.00")
        await owner.sees_heading("Buy a pack")
        await owner.press("Order for $40.00")
        await operator.open("/admin/payments")
        await operator.press(f"Approve 250 try-ons of {owner.email}")
        await operator.press("Approve $40.00")
        await operator.reads("The payment is approved")

        await owner.visit("Billing")
        await expect(owner.page.get_by_role("region", name="Entries").get_by_text("+250")).to_be_visible()
        saved = await owner.saved("Download CSV")
        bought = [row for row in csv.DictReader(io.StringIO(saved.decode("utf-8-sig"))) if row["kind"] == "topup"]
        assert [row["change"] for row in bought] == ["250"]
        usage = json.loads(site.tryon("account", "usage", "--account", owner.email, "--json"))
        assert (usage["plan"], usage["topUpRemaining"]) == ("growth", 250)

        await operator.open("/admin/audit")
        await operator.reads(re.compile("payment"))
        assert "agree" in site.tryon("ledger", "check")
        assert owner.complaints == operator.complaints == []
