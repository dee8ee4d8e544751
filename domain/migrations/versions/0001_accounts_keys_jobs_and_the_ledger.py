"""Accounts, keys, jobs and the ledger"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

UNSTARTED = sa.text("started_at IS NULL AND status = 'processing'")
CLOSING = sa.text("kind IN ('settle', 'release')")


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("plan", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("blocked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("email", name=op.f("uq_account_email")),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("last_four", sa.String(length=4), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_api_key_account_id_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_key_digest")),
    )
    op.create_index(op.f("ix_api_key_account_id"), "api_key", ["account_id"])
    op.create_table(
        "job",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("api_key_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("workflow_input", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("generation_ms", sa.Integer(), nullable=True),
        sa.Column("result_key", sa.String(length=512), nullable=True),
        sa.Column("engine", sa.String(length=32), nullable=True),
        sa.Column("report", sa.JSON(), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.CheckConstraint("status IN ('processing', 'completed', 'failed')", name=op.f("ck_job_status")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_job_account_id_account")),
        sa.ForeignKeyConstraint(["api_key_id"], ["api_key.id"], name=op.f("fk_job_api_key_id_api_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    op.create_index("ix_job_account_created", "job", ["account_id", "created_at"])
    op.create_index("ix_job_unstarted", "job", ["created_at"], sqlite_where=UNSTARTED, postgresql_where=UNSTARTED)
    op.create_table(
        "ledger",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("generations", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('reserve', 'settle', 'release')", name=op.f("ck_ledger_kind")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_ledger_account_id_account")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_ledger_job_id_job")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("job_id", "kind", name=op.f("uq_ledger_job_id_kind")),
    )
    op.create_index(op.f("ix_ledger_account_id"), "ledger", ["account_id"])
    op.create_index(
        "uq_ledger_job_closed", "ledger", ["job_id"], unique=True, sqlite_where=CLOSING, postgresql_where=CLOSING
    )


def downgrade() -> None:
    for table in ("ledger", "job", "api_key", "account"):
        op.drop_table(table)
