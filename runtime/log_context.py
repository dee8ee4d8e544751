"""The ids of an activity's job in every line that it logs."""

from __future__ import annotations

from typing import Any

import structlog
from temporalio import activity, client, worker


class ActivityLogContext(client.Interceptor, worker.Interceptor):
    """Given to a client; the workers that use it take it over."""

    def intercept_activity(self, next: worker.ActivityInboundInterceptor) -> worker.ActivityInboundInterceptor:  # noqa: A002  # the SDK's name
        return _Binding(next)


class _Binding(worker.ActivityInboundInterceptor):
    async def execute_activity(self, input: worker.ExecuteActivityInput) -> Any:  # noqa: A002  # the SDK's name
        info = activity.info()
        ids = {"workflow_id": info.workflow_id, "activity_type": info.activity_type, "attempt": info.attempt}
        request = input.args[0] if input.args else None
        for name in ("job_id", "account_id"):
            value = getattr(request, name, None)
            if isinstance(value, str):
                ids[name] = value
        with structlog.contextvars.bound_contextvars(**ids):
            return await super().execute_activity(input)
