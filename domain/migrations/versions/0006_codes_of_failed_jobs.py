"""Codes of failed jobs: some were names of exceptions"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Every code of the catalogue is in small letters, and no exception is named so.
    op.execute("UPDATE job SET error_code = 'generation_failed' WHERE error_code <> lower(error_code)")


def downgrade() -> None:
    """The names are in Temporal's histories, if anywhere."""
