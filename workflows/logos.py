"""`SetWatermarkWorkflow`: fetch a logo and make it the account's watermark.

It is a workflow because only the CPU worker dials addresses that strangers chose.
"""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.logo_contracts import FetchLogoInput, SaveWatermarkInput, SetWatermarkInput, WatermarkSetting


@workflow.defn(name="SetWatermarkWorkflow", failure_exception_types=[ValidationError])
class SetWatermarkWorkflow:
    """Fetch, then save. Where the fetch fails, what was set before stays as it was."""

    @workflow.run
    async def run(self, wanted: SetWatermarkInput) -> WatermarkSetting:
        """Set the watermark; a logo that cannot be used fails the run with its code of the catalogue."""
        logo = await steps.FETCH_LOGO.run(
            FetchLogoInput(account_id=wanted.account_id, logo_url=wanted.logo_url), "logo"
        )
        return await steps.SAVE_WATERMARK.run(
            SaveWatermarkInput(
                account_id=wanted.account_id, logo_url=wanted.logo_url, logo=logo, enabled=wanted.enabled
            ),
            f"logo of {logo.width} x {logo.height} pixels, {'on' if wanted.enabled else 'off'}",
        )
