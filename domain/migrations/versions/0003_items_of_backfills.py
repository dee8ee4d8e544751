"""Items of backfills, and jobs that no key asked for"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("job") as batch:
        batch.alter_column("api_key_id", existing_type=sa.Uuid(), nullable=True)
    op.create_table(
        "backfill_item",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("backfill_id", sa.String(64), nullable=False),
        sa.Column("result_key", sa.String(512), nullable=True),
        sa.Column("touched_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_backfill_item_account_id_account")),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_backfill_item")),
    )
    op.create_index("ix_backfill_item_job", "backfill_item", ["job_id"])
    op.create_index("ix_backfill_item_touched", "backfill_item", ["touched_at"])


def downgrade() -> None:
    raise NotImplementedError("money is not thrown away by a command; restore the backup instead")
