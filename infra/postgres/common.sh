# Sourced by backup.sh and restore.sh, which run in a container of the PostgreSQL image.
set -euo pipefail
PGPASSWORD=$(cat "${PASSWORD_FILE:-/etc/pronghorn/superuser}")
connection=${CONNECTION_FILE:-/etc/pronghorn/connection}
# Whether and how the connection is encrypted.
[ ! -f "$connection" ] || . "$connection"
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

# note_task TASK REASON SECONDS: what became of an attempt, for the metrics; an empty reason is a success. A database of
# before, or one that cannot be reached, is no reason to fail: then it is noted in the file `status` alone.
note_task() {
  PGCONNECT_TIMEOUT=10 psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set name="$1" --set reason="$2" --set seconds="${3:-}" >/dev/null 2>&1 <<'SQL' || true
SELECT chain.note_task(:'name', nullif(:'reason', ''), nullif(:'seconds', '')::integer);
SQL
}
