#!/bin/bash
# Checks a backup: check-backup.sh NAME. Restores a copy of /backups/NAME into a separate server without network, compares
# the digests of the copy with those of the manifest, and removes the copy. The copy takes the space of the database in
# SCRATCH_FOLDER.
. "$(dirname "$0")/common.sh"
name=${1:?"usage: check-backup.sh NAME"}
scripts=$(cd "$(dirname "$0")" && pwd)
scratch=${SCRATCH_FOLDER:-/var/lib/postgresql/data}/check
sockets=$(mktemp -d)
server() { pg_ctl --pgdata="$scratch" --silent --wait --timeout=3600 "$@"; }
leave() {
  server --mode=immediate stop >/dev/null 2>&1 || true
  rm -rf "$scratch" "$sockets"
}
trap leave EXIT
trap 'exit 1' TERM INT

# Debian installs the server programs of each version in a separate folder, which is not on the PATH.
major=$(($(ask 'SHOW server_version_num') / 10000))
command -v initdb >/dev/null || PATH=$PATH:/usr/lib/postgresql/$major/bin
command -v initdb >/dev/null || fail "there is no initdb of PostgreSQL $major on the PATH or in /usr/lib/postgresql/$major/bin"

rm -rf "$scratch"
roles=$(ask "SELECT format('CREATE ROLE %I;', rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user")
initdb --pgdata="$scratch" --username="$PGUSER" --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
# The copy is removed afterwards, so its server does not flush to the disk.
server --log="$sockets/log" --options="-c listen_addresses= -c unix_socket_directories=$sockets -c fsync=off \
  -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off -c wal_level=minimal -c max_wal_senders=0 \
  -c max_wal_size=4GB -c shared_buffers=256MB -c maintenance_work_mem=256MB -c jit=off" start >/dev/null ||
  fail "the server of the copy does not start: $(tail -n 1 "$sockets/log")"
export PGHOST=$sockets
PGDATABASE=postgres psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --command "$roles" --command "CREATE DATABASE \"$PGDATABASE\" TEMPLATE template0"
"$scripts/restore.sh" "$name" >/dev/null
printf 'The restored copy of %s has the digests of the manifest.\n' "$name"
