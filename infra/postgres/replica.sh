#!/bin/bash
# Runs a streaming replica: copies the primary at the first start, follows it from then on.
set -euo pipefail
# The server reads its password here whenever it connects; it is a copy because it has to be private to this user.
passfile=/tmp/replication.pgpass
write_passfile() {
  local password
  password=$(cat /etc/pronghorn/superuser)
  if [ "$password" != "${written:-}" ]; then
    (umask 077 && printf '*:*:*:*:%s\n' "$password" >"$passfile.new" && mv "$passfile.new" "$passfile")
    written=$password
  fi
}
write_passfile
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  rm -rf "$PGDATA"
  # --write-recovery-conf makes standby.signal.
  PGPASSFILE=$passfile pg_basebackup --pgdata="$PGDATA" --wal-method=stream --checkpoint=fast --write-recovery-conf
  chmod 700 "$PGDATA"
fi
# New passwords of scripts/rotate-secrets count from the next connection on.
while sleep 2; do write_passfile; done &
exec postgres -D "$PGDATA" -c config_file=/etc/pronghorn/postgresql.conf -c listen_addresses='*' \
  -c unix_socket_directories=/var/run/postgresql \
  -c primary_conninfo="host=$PGHOST port=$PGPORT user=$PGUSER passfile=$passfile"
