"""Advice of failed jobs"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("job", sa.Column("error_advice", sa.String(200), nullable=True))


def downgrade() -> None:
    op.drop_column("job", "error_advice")
