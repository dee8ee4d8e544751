"""The dashboard: who may stay signed in for how long, and where it is found."""

from __future__ import annotations

from pydantic import Field, HttpUrl
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern
from runtime.settings.service import ApiSettings


class DashboardSettings(Concern):
    """The pages for account owners and operators."""

    model_config = SettingsConfigDict(env_prefix="TRYON_DASHBOARD_", env_ignore_empty=True)
    title = "Dashboard"

    name: str = Field(default="Fitting Room", min_length=1, max_length=40)
    """What the service calls itself on its pages and in its mail."""

    public_url: HttpUrl | None = None
    """Where browsers find the service, such as ``https://tryon.example.com``: what links in mail begin with. None
    takes the API's own host and port. A request's Host header is never believed for that."""

    secure_cookies: bool = True
    """Cookies for https only (browsers take http://127.0.0.1 and http://localhost for as safe). Off is for a trial
    over plain http in a network of one's own: whoever listens there can take over a session."""

    session_idle_hours: int = Field(default=12, ge=1, le=24 * 14)
    """A browser that shows nothing for this long is signed out."""

    session_days: int = Field(default=14, ge=1, le=90)
    """Longest time that a browser stays signed in, however busy it is."""

    def base_url(self, api: ApiSettings) -> str:
        """Where browsers find the service, without a slash at the end."""
        if self.public_url is not None:
            return str(self.public_url).rstrip("/")
        host = "127.0.0.1" if api.host in ("0.0.0.0", "::") else api.host  # noqa: S104  # compared with, not bound to
        return f"http://{host}:{api.port}"
