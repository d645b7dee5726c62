#!/bin/bash
# Runs a streaming replica: copies the primary at the first start, follows it from then on.
set -euo pipefail
PGPASSWORD=$(cat /etc/pronghorn/superuser)
export PGPASSWORD
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  rm -rf "$PGDATA"
  # --write-recovery-conf makes standby.signal and tells where the primary is.
  pg_basebackup --pgdata="$PGDATA" --wal-method=stream --checkpoint=fast --write-recovery-conf
  chmod 700 "$PGDATA"
fi
unset PGPASSWORD
exec postgres -D "$PGDATA" -c config_file=/etc/pronghorn/postgresql.conf -c listen_addresses='*' \
  -c unix_socket_directories=/var/run/postgresql
