#!/bin/bash
# Runs a streaming replica: copies the primary at the first start, follows it from then on.
set -euo pipefail
# The server reads its password here whenever it connects; it is a copy because it has to be private to this user.
passfile=${TMPDIR:-/tmp}/replication.pgpass
write_passfile() {
  local password
  password=$(cat "${PASSWORD_FILE:-/etc/pronghorn/superuser}")
  if [ "$password" != "${written:-}" ]; then
    # In such a file, colons and backslashes are written with a backslash.
    (umask 077 && printf '*:*:*:*:%s\n' "$(printf %s "$password" | sed 's/[\\:]/\\&/g')" >"$passfile.new" && mv "$passfile.new" "$passfile")
    written=$password
  fi
}
write_passfile
# A copy gets its name when it is whole; pg_control is what a copy receives last.
if [ ! -s "$PGDATA/global/pg_control" ]; then
  partial=$PGDATA.partial
  rm -rf "$PGDATA" "$partial"
  # --write-recovery-conf makes standby.signal.
  PGPASSFILE=$passfile pg_basebackup --pgdata="$partial" --wal-method=stream --checkpoint=fast --write-recovery-conf
  chmod 700 "$partial"
  mv "$partial" "$PGDATA"
fi
# New passwords of scripts/rotate-secrets count from the next connection on.
while sleep 2; do write_passfile; done &
exec postgres -D "$PGDATA" -c config_file=/etc/pronghorn/postgresql.conf -c listen_addresses='*' \
  -c unix_socket_directories=/var/run/postgresql \
  -c primary_conninfo="host=$PGHOST port=$PGPORT user=$PGUSER passfile=$passfile"
