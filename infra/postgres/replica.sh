#!/bin/bash
# Runs a streaming replica: copies the primary at the first start, then replays its WAL.
set -euo pipefail
# The server reads the password from this file whenever it connects. The file is a copy, because libpq accepts only a file
# that no other user may read.
passfile=${TMPDIR:-/tmp}/replication.pgpass
write_passfile() {
  local password
  password=$(cat "${PASSWORD_FILE:-/etc/pronghorn/superuser}")
  if [ "$password" != "${written:-}" ]; then
    # A password file escapes colons and backslashes with a backslash.
    (umask 077 && printf '*:*:*:*:%s\n' "$(printf %s "$password" | sed 's/[\\:]/\\&/g')" >"$passfile.new" && mv "$passfile.new" "$passfile")
    written=$password
  fi
}
write_passfile
# A copy is renamed to PGDATA when it is complete. pg_basebackup receives pg_control last.
if [ ! -s "$PGDATA/global/pg_control" ]; then
  partial=$PGDATA.partial
  rm -rf "$PGDATA" "$partial"
  # --write-recovery-conf creates standby.signal, which starts the server as a replica.
  PGPASSFILE=$passfile pg_basebackup --pgdata="$partial" --wal-method=stream --checkpoint=fast --write-recovery-conf
  chmod 700 "$partial"
  mv "$partial" "$PGDATA"
fi
# After scripts/rotate-secrets, the next connection uses the new password.
while sleep 2; do write_passfile; done &
exec postgres -D "$PGDATA" -c config_file=/etc/pronghorn/postgresql.conf -c listen_addresses='*' \
  -c unix_socket_directories=/var/run/postgresql \
  -c primary_conninfo="host=$PGHOST port=$PGPORT user=$PGUSER passfile=$passfile"
