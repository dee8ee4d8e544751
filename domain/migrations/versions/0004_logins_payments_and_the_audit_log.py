"""Logins, sessions, mail, payments and the audit log"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("account", sa.Column("result_ttl_seconds", sa.Integer(), nullable=True))
    op.add_column("account", sa.Column("erased_at", TIME, nullable=True))
    op.add_column("account", sa.Column("erasure_finished_at", TIME, nullable=True))
    being_erased = sa.text("erased_at IS NOT NULL AND erasure_finished_at IS NULL")
    name, columns = "ix_account_being_erased", ["erased_at"]
    op.create_index(name, "account", columns, sqlite_where=being_erased, postgresql_where=being_erased)
    op.create_index("ix_job_account_day", "job", ["account_id", "counted_on", "status", "generation_ms"])
    op.create_index("ix_job_account_status", "job", ["account_id", "status", "created_at", "error_code"])
    _logins()
    _payments()
    _audit_log()


def _logins() -> None:
    op.create_table(
        "login",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("password_hash", sa.String(200), nullable=True),
        sa.Column("verified_at", TIME, nullable=True),
        sa.Column("operator", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_login_account_id_account")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_login")),
    )
    op.create_table(
        "login_session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("address", sa.String(45), nullable=False),
        sa.Column("user_agent", sa.String(200), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_login_session_account_id_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_session")),
        sa.UniqueConstraint("digest", name=op.f("uq_login_session_digest")),
    )
    op.create_index("ix_login_session_account_id", "login_session", ["account_id"])
    op.create_index("ix_login_session_seen_at", "login_session", ["seen_at"])
    op.create_table(
        "email_token",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.CheckConstraint("purpose IN ('verify', 'reset', 'change')", name=op.f("ck_email_token_purpose")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_email_token_account_id_account")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_email_token")),
    )
    op.create_index("ix_email_token_account_id", "email_token", ["account_id"])
    op.create_index("ix_email_token_expires_at", "email_token", ["expires_at"])
    op.create_table(
        "login_throttle",
        sa.Column("subject", sa.String(64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_login_throttle")),
    )
    op.create_index("ix_login_throttle_last_failed_at", "login_throttle", ["last_failed_at"])
    op.create_table(
        "trial_taken",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("taken_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_trial_taken")),
    )
    op.create_table(
        "mail",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("to_address", sa.String(320), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("body", sa.String(8000), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("sent_at", TIME, nullable=True),
        sa.Column("refused_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_mail_account_id_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail")),
    )
    op.create_index("ix_mail_account_id", "mail", ["account_id"])
    op.create_index("ix_mail_created", "mail", ["created_at"])


def _payments() -> None:
    op.create_table(
        "payment",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("generations", sa.Integer(), nullable=True),
        sa.Column("plan", sa.String(32), nullable=True),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(16), nullable=False),
        sa.Column("reference", sa.String(255), nullable=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("closed_at", TIME, nullable=True),
        sa.Column("closed_by", sa.Uuid(), nullable=True),
        sa.Column("note", sa.String(200), nullable=True),
        sa.Column("allowance_id", sa.Uuid(), nullable=True),
        sa.CheckConstraint("kind IN ('topup', 'plan')", name=op.f("ck_payment_kind")),
        sa.CheckConstraint("status IN ('open', 'paid', 'rejected')", name=op.f("ck_payment_status")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_payment_account_id_account")),
        sa.ForeignKeyConstraint(["allowance_id"], ["allowance.id"], name=op.f("fk_payment_allowance_id_allowance")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payment")),
        sa.UniqueConstraint("provider", "reference", name=op.f("uq_payment_provider_reference")),
    )
    op.create_index("ix_payment_account_created", "payment", ["account_id", "created_at"])
    op.create_index("ix_payment_status_created", "payment", ["status", "created_at"])
    op.create_index("ix_ledger_account_at", "ledger", ["account_id", "at"])
    # The new one does its work too, and SQLite would take the old one and sort a whole ledger for one page.
    op.drop_index("ix_ledger_account_id", "ledger")


def _audit_log() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("operator_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    op.create_index("ix_audit_entry_at", "audit_entry", ["at", "id"])
    op.create_index("ix_audit_entry_account", "audit_entry", ["account_id", "at"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
        )
        return
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_refuses_{change.lower()} BEFORE {change} ON audit_entry "
            "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        )


def downgrade() -> None:
    raise NotImplementedError("money is not thrown away by a command; restore the backup instead")
