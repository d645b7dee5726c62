# Sourced by backup.sh and restore.sh, which run in a container of the PostgreSQL image.
set -euo pipefail
PGPASSWORD=$(cat "${PASSWORD_FILE:-/etc/pronghorn/superuser}")
backups=${BACKUPS_FOLDER:-/backups}
export PGPASSWORD PGHOST=${PGHOST:-postgres} PGPORT=${PGPORT:-5432} PGUSER=${PGUSER:-postgres} PGDATABASE=${PGDATABASE:-pronghorn}
jobs=${BACKUP_JOBS:-$(nproc)}

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

ask() {
  psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --command "$1"
}
