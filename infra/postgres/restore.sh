#!/bin/bash
# Restores /backups/NAME into a database without data: restore.sh [--check] NAME. The roles must exist. Afterwards compares
# the digest of every table with the manifest. --check: only checks the backup and that the database has no data.
. "$(dirname "$0")/common.sh"
check=no
[ "${1:-}" != --check ] || { check=yes; shift; }
name=${1:?"usage: restore.sh [--check] NAME"}
source=$backups/$name
[ -d "$source/dump" ] && [ -f "$source/manifest.json" ] || fail "there is no backup $name"
(cd "$source" && sha256sum --check --quiet --strict SHA256SUMS) || fail "the backup $name is damaged"
unlisted=$(cd "$source" && find . -type f ! -name SHA256SUMS | sort | comm -23 - <(sed 's/^[0-9a-f]*  //' SHA256SUMS | sort))
[ -z "$unlisted" ] || fail "the backup $name has files that SHA256SUMS does not list: $unlisted"

if [ "$(ask "SELECT to_regclass('chain.readers') IS NOT NULL")" = t ]; then
  held=$(ask "SELECT coalesce(string_agg(name || ' at block ' || block_num, ', '), '') FROM chain.readers")
  [ -z "$held" ] || fail "the database $PGDATABASE holds data ($held), which a restore would overwrite. To restore anyway, drop the database first."
fi
[ "$check" = no ] || exit 0
others=$(ask "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
[ "$others" = 0 ] || fail "$others connections use the database: stop the services first"

owner=$(ask "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()")
acl="REVOKE ALL ON DATABASE \"$PGDATABASE\" FROM PUBLIC"
PGDATABASE=postgres psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 \
  --command "DROP DATABASE \"$PGDATABASE\"" \
  --command "CREATE DATABASE \"$PGDATABASE\" OWNER \"$owner\"" \
  --command "$acl"
pg_restore --jobs="$jobs" --exit-on-error --dbname="$PGDATABASE" "$source/dump"
ask ANALYZE

# Backups of older versions contain no digests.
if [ "$(ask "SELECT to_regproc('chain.digest_summary') IS NOT NULL")" = t ]; then
  differing=$(psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --set manifest="$(cat "$source/manifest.json")" <<'SQL'
SELECT coalesce(string_agg(name, ', ' ORDER BY name), '')
FROM (SELECT key AS name, value AS digest FROM jsonb_each_text(:'manifest'::jsonb #> '{digest,tables}')) was
FULL JOIN (SELECT key AS name, value AS digest FROM jsonb_each_text(chain.digest_summary() -> 'tables')) found USING (name)
WHERE was.digest IS DISTINCT FROM found.digest AND :'manifest'::jsonb ? 'digest';
SQL
)
  [ -z "$differing" ] || fail "the restored database does not hold what was backed up: the digests of $differing differ"
fi
printf 'Restored %s: %s\n' "$name" "$(cat "$source/manifest.json")"
