# Sourced by backup.sh and restore.sh, which run in a container of the PostgreSQL image.
set -euo pipefail
PGPASSWORD=$(cat "${PASSWORD_FILE:-/etc/pronghorn/superuser}")
connection=${CONNECTION_FILE:-/etc/pronghorn/connection}
# The file sets the variables of libpq for the encryption of the connection.
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

# note_task TASK REASON SECONDS: records the result of an attempt in the database, for the metrics; an empty reason means
# success. An older database without the function, or an unreachable database, is ignored: the file `status` has the result.
note_task() {
  PGCONNECT_TIMEOUT=10 psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set name="$1" --set reason="$2" --set seconds="${3:-}" >/dev/null 2>&1 <<'SQL' || true
SELECT chain.note_task(:'name', nullif(:'reason', ''), nullif(:'seconds', '')::integer);
SQL
}
