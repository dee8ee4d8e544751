"""Allowances behind the ledger, products, watermarks, idempotency keys and request rates"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
EPOCH = "1970-01-01 00:00:00"
CLOSING = sa.text("kind IN ('settle', 'release')")
OPEN = sa.text("status = 'processing'")
WITH_RESULT = sa.text("result_key IS NOT NULL")
PERIODIC = sa.text("source IN ('trial', 'included')")


def upgrade() -> None:
    # The first ledger counted against nothing, so there is nothing in it to carry over.
    op.drop_table("ledger")
    _accounts()
    _money()
    _jobs()
    _products()
    op.create_table(
        "rate_window",
        sa.Column("api_key_id", sa.Uuid(), nullable=False),
        sa.Column("policy", sa.String(32), nullable=False),
        sa.Column("stamps", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("api_key_id", "policy", name=op.f("pk_rate_window")),
    )


def _accounts() -> None:
    # Columns are added in place: SQLite cannot build a table anew that others point at.
    op.add_column("account", sa.Column("plan_started_at", TIME, nullable=False, server_default=EPOCH))
    op.execute("UPDATE account SET plan_started_at = created_at")
    for name in ("custom_included", "custom_daily_cap", "custom_monthly_cents", "custom_extra_cents"):
        op.add_column("account", sa.Column(name, sa.Integer(), nullable=True))
    op.add_column("account", sa.Column("blocked_reason", sa.String(200), nullable=True))
    op.execute(
        "ALTER TABLE api_key ADD COLUMN mode VARCHAR(8) DEFAULT 'live' NOT NULL "
        "CONSTRAINT ck_api_key_mode CHECK (mode IN ('live', 'test'))"
    )
    op.add_column("api_key", sa.Column("last_used_at", TIME, nullable=True))
    op.create_table(
        "watermark",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("logo_url", sa.String(2048), nullable=False),
        sa.Column("logo", sa.JSON(), nullable=False),
        sa.Column("fetched_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_watermark_account_id_account")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_watermark")),
    )


def _money() -> None:
    op.create_table(
        "allowance",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("generations", sa.Integer(), nullable=False),
        sa.Column("reserved", sa.Integer(), nullable=False),
        sa.Column("settled", sa.Integer(), nullable=False),
        sa.Column("starts_at", TIME, nullable=False),
        sa.Column("ends_at", TIME, nullable=True),
        sa.Column("price_cents", sa.Integer(), nullable=False),
        sa.CheckConstraint("source IN ('trial', 'included', 'topup')", name=op.f("ck_allowance_source")),
        sa.CheckConstraint("reserved >= 0 AND settled >= 0", name=op.f("ck_allowance_counters")),
        sa.CheckConstraint("reserved + settled <= generations", name=op.f("ck_allowance_not_overspent")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_allowance_account_id_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_allowance")),
    )
    op.create_index("ix_allowance_account_id", "allowance", ["account_id"])
    op.create_index(
        "uq_allowance_period",
        "allowance",
        ["account_id", "source", "starts_at"],
        unique=True,
        sqlite_where=PERIODIC,
        postgresql_where=PERIODIC,
    )
    op.create_table(
        "daily_usage",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("reserved", sa.Integer(), nullable=False),
        sa.Column("settled", sa.Integer(), nullable=False),
        sa.CheckConstraint("reserved >= 0 AND settled >= 0", name=op.f("ck_daily_usage_counters")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_daily_usage_account_id_account")),
        sa.PrimaryKeyConstraint("account_id", "day", name=op.f("pk_daily_usage")),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("allowance_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("generations", sa.Integer(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.CheckConstraint("kind IN ('grant', 'topup', 'reserve', 'settle', 'release')", name=op.f("ck_ledger_kind")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_ledger_account_id_account")),
        sa.ForeignKeyConstraint(["allowance_id"], ["allowance.id"], name=op.f("fk_ledger_allowance_id_allowance")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("job_id", "kind", name=op.f("uq_ledger_job_id_kind")),
    )
    op.create_index(op.f("ix_ledger_account_id"), "ledger", ["account_id"])
    op.create_index(op.f("ix_ledger_allowance_id"), "ledger", ["allowance_id"])
    op.create_index(
        "uq_ledger_job_closed", "ledger", ["job_id"], unique=True, sqlite_where=CLOSING, postgresql_where=CLOSING
    )
    _append_only()


def _append_only() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
        )
        op.execute(
            "CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change()"
        )
        return
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER ledger_refuses_{change.lower()} BEFORE {change} ON ledger "
            "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
        )


def _jobs() -> None:
    with op.batch_alter_table("job") as batch:
        batch.add_column(sa.Column("allowance_id", sa.Uuid(), nullable=True))
        batch.add_column(sa.Column("counted_on", sa.Date(), nullable=True))
        batch.add_column(sa.Column("products", sa.JSON(), nullable=True))
        batch.add_column(sa.Column("erased_at", TIME, nullable=True))
        batch.create_foreign_key(op.f("fk_job_allowance_id_allowance"), "allowance", ["allowance_id"], ["id"])
    op.create_index("ix_job_open", "job", ["created_at"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("ix_job_with_result", "job", ["expires_at"], sqlite_where=WITH_RESULT, postgresql_where=WITH_RESULT)
    op.create_index("ix_job_finished", "job", ["finished_at"])
    op.create_table(
        "idempotency_key",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(255), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("claim", sa.Uuid(), nullable=False),
        sa.Column("claimed_at", TIME, nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_idempotency_key_account_id_account")),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_idempotency_key")),
    )
    op.create_index(op.f("ix_idempotency_key_claimed_at"), "idempotency_key", ["claimed_at"])


def _products() -> None:
    op.create_table(
        "product",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(128), nullable=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("category", sa.String(16), nullable=False),
        sa.Column("garment_category", sa.String(64), nullable=True),
        sa.Column("front", sa.JSON(), nullable=False),
        sa.Column("back", sa.JSON(), nullable=True),
        sa.Column("garment_state", sa.String(8), nullable=True),
        sa.Column("tuck_state", sa.String(8), nullable=True),
        sa.Column("size", sa.String(32), nullable=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.CheckConstraint("status IN ('active', 'archived')", name=op.f("ck_product_status")),
        sa.CheckConstraint("category IN ('upper_body', 'lower_body', 'full_body')", name=op.f("ck_product_category")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_product_account_id_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_product")),
        sa.UniqueConstraint("account_id", "external_id", name=op.f("uq_product_account_id_external_id")),
    )
    op.create_index("ix_product_account_created", "product", ["account_id", "created_at", "id"])


def downgrade() -> None:
    raise NotImplementedError("money is not thrown away by a command; restore the backup instead")
