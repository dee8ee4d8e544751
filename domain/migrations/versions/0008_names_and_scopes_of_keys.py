"""Names, scopes and expiry of keys; publishable keys; request rates of single accounts"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_ADDED = {
    "api_key": (
        ("name", sa.String(60)),
        ("scopes", sa.JSON()),
        ("expires_at", sa.DateTime(timezone=True)),
        ("replaced_at", sa.DateTime(timezone=True)),
        ("publishable_key", sa.String(64)),
        ("origins", sa.JSON()),
        ("daily_cap", sa.Integer()),
        ("started", sa.Integer()),
        ("started_on", sa.Date()),
    ),
    "account": (("custom_requests", sa.Integer()), ("custom_window_seconds", sa.Integer())),
    "rate_window": (("forget_at", sa.DateTime(timezone=True)),),
}


def upgrade() -> None:
    for table, columns in _ADDED.items():
        for name, kind in columns:
            op.add_column(table, sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    # Nothing of the release before refuses an expired, limited or publishable key.
    op.execute(
        "UPDATE api_key SET revoked_at = CURRENT_TIMESTAMP WHERE revoked_at IS NULL AND "
        "(scopes IS NOT NULL OR expires_at IS NOT NULL OR publishable_key IS NOT NULL)"
    )
    for table, columns in _ADDED.items():
        for name, _ in reversed(columns):
            op.drop_column(table, name)
