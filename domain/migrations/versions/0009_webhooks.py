"""Webhook endpoints and deliveries; what accounts were told of their volume"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("account", sa.Column("volume_low_told", sa.DateTime(timezone=True), nullable=True))
    op.add_column("account", sa.Column("volume_exhausted_told", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "webhook_endpoint",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("description", sa.String(100), nullable=False),
        sa.Column("events", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("previous_secret", sa.String(64), nullable=True),
        sa.Column("previous_secret_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_reason", sa.String(16), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_webhook_endpoint_account_id_account"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_endpoint"),
    )
    op.create_index("ix_webhook_endpoint_account_id", "webhook_endpoint", ["account_id"])
    op.create_table(
        "webhook_delivery",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("attempts", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_attempt_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('waiting', 'delivered', 'failed')", name="ck_webhook_delivery_status"),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_webhook_delivery_account_id_account"),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoint.id"],
            name="fk_webhook_delivery_endpoint_id_webhook_endpoint",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_delivery"),
    )
    op.create_index("ix_webhook_delivery_account_id", "webhook_delivery", ["account_id"])
    op.create_index("ix_webhook_delivery_endpoint", "webhook_delivery", ["endpoint_id", "created_at", "id"])
    op.create_index(
        "ix_webhook_delivery_due",
        "webhook_delivery",
        ["next_attempt_at"],
        sqlite_where=sa.text("next_attempt_at IS NOT NULL"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
    op.create_index(
        "ix_webhook_delivery_job",
        "webhook_delivery",
        ["job_id"],
        sqlite_where=sa.text("job_id IS NOT NULL"),
        postgresql_where=sa.text("job_id IS NOT NULL"),
    )
    op.create_index("ix_webhook_delivery_created", "webhook_delivery", ["created_at"])


def downgrade() -> None:
    op.drop_table("webhook_delivery")
    op.drop_table("webhook_endpoint")
    op.drop_column("account", "volume_exhausted_told")
    op.drop_column("account", "volume_low_told")
