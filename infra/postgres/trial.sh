#!/bin/bash
# A copy of the database to try migrations on: trial.sh make NAME restores the backup NAME next to the database in
# use, trial.sh drop removes the copy. The restored rows are compared with the digests of the backup on the way.
. "$(dirname "$0")/common.sh"
copy=${PGDATABASE}_trial
# PostgreSQL cuts a longer name: to that of the database itself, where it has 63 bytes.
[ "$(printf %s "$copy" | wc -c)" -le 63 ] || fail "the name $PGDATABASE is too long for a copy next to it: at most 57 bytes"
drop() { PGDATABASE=postgres ask "DROP DATABASE IF EXISTS \"$copy\" WITH (FORCE)"; }
case ${1:-} in
  drop) drop ;;
  make)
    owner=$(ask "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()")
    drop
    PGDATABASE=postgres ask "CREATE DATABASE \"$copy\" OWNER \"$owner\""
    PGDATABASE=$copy exec "$(dirname "$0")/restore.sh" "${2:?the name of a backup}"
    ;;
  *) fail 'usage: trial.sh make NAME | drop' ;;
esac
