#!/bin/sh
# Makes Temporal's two databases and brings their tables to the version of this image. Safe at any time.
# Reads SQL_HOST and SQL_USER; SQL_PASSWORD is read by temporal-sql-tool itself.
set -eu

bring_up_to_date() {
  sql="temporal-sql-tool --plugin postgres12 --ep $SQL_HOST -p 5432 -u $SQL_USER --db $1"
  $sql create
  $sql setup-schema -v 0.0
  $sql update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

bring_up_to_date temporal temporal
bring_up_to_date temporal_visibility visibility
echo "Temporal's databases are up to date."
