#!/bin/bash
# Manages a copy of the database on which migrations are tried. `trial.sh make NAME` restores the backup NAME next to the
# database in use and compares the restored rows with the digests of the backup. `trial.sh drop` removes the copy.
. "$(dirname "$0")/common.sh"
copy=${PGDATABASE}_trial
# PostgreSQL truncates a name to 63 bytes: the truncated name of the copy could be the name of the database itself.
[ "$(printf %s "$copy" | wc -c)" -le 63 ] || fail "the database name $PGDATABASE is too long for a copy with the suffix _trial: allowed are 57 bytes"
drop() { PGDATABASE=postgres ask "DROP DATABASE IF EXISTS \"$copy\" WITH (FORCE)"; }
case ${1:-} in
  drop) drop ;;
  make)
    owner=$(ask "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()")
    drop
    PGDATABASE=postgres ask "CREATE DATABASE \"$copy\" OWNER \"$owner\""
    PGDATABASE=$copy exec "$(dirname "$0")/restore.sh" "${2:?"usage: trial.sh make NAME | drop"}"
    ;;
  *) fail 'usage: trial.sh make NAME | drop' ;;
esac
