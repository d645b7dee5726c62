#!/bin/bash
# Writes a backup of the database into /backups/NAME while all services run: backup.sh NAME. Several processes of pg_dump
# write the directory format from one snapshot. The manifest lists the content with the digest of each table; SHA256SUMS
# lists every file, to detect damage.
. "$(dirname "$0")/common.sh"
name=${1:?"usage: backup.sh NAME"}
[[ $name =~ ^[A-Za-z0-9._-]+$ ]] || fail "the name of a backup may contain only letters, digits, dots, hyphens and underscores: $name"
target=$backups/$name
partial=$target.partial
[ ! -e "$target" ] || fail "the backup $name already exists"
# A backup takes about as much space as the newest one.
last=$(find "$backups" -mindepth 2 -maxdepth 2 -name manifest.json -printf '%T@ %h\n' 2>/dev/null | sort -rn | sed -n '1s/^[^ ]* //p' || true)
if [ -n "$last" ]; then
  needed=$(du -sk "$last" | cut -f1)
  free=$(df -Pk "$backups" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$needed" ] || fail "the disk of the backups has $((free / 1024)) MiB free and the newest backup takes $((needed / 1024)) MiB: remove older ones, or set BACKUP_DIR to another disk"
fi
rm -rf "$partial"
trap 'rm -rf "$partial"' EXIT
trap 'exit 1' TERM INT
mkdir "$partial"

# One session exports the snapshot that the manifest and every process of the dump read.
coproc HOLDER { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1; }
# Bash unsets HOLDER_PID as soon as the session has ended.
holder=$HOLDER_PID
printf 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\nSELECT pg_export_snapshot();\n' >&"${HOLDER[1]}"
read -r -t 30 snapshot <&"${HOLDER[0]}" || fail 'the database exported no snapshot within 30 seconds'
cat >&"${HOLDER[1]}" <<'SQL'
SELECT json_build_object(
  'format', 1,
  'created_at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  'postgres_version', current_setting('server_version'),
  'schema_version', (SELECT max(number) FROM public.pronghorn_migrations),
  'chain_id', (SELECT chain_id FROM chain.identity),
  'readers', (SELECT coalesce(json_agg(json_build_object('name', name, 'block_num', block_num, 'block_id', encode(block_id, 'hex')) ORDER BY name), '[]') FROM chain.readers),
  'bytes', pg_database_size(current_database()),
  'digest', chain.digest_summary());
SQL
# The session reads every row for the digests while pg_dump reads every row for the dump.
pg_dump --format=directory --jobs="$jobs" --snapshot="$snapshot" --compress=3 --file="$partial/dump"
read -r manifest <&"${HOLDER[0]}" || fail 'the database returned no manifest'
printf 'COMMIT;\n\\q\n' >&"${HOLDER[1]}"
wait "$holder" 2>/dev/null || true

printf '%s\n' "$manifest" >"$partial/manifest.json"
(cd "$partial" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
mv "$partial" "$target"
note_task backup ''
printf 'Backup %s: %s\n' "$name" "$manifest"
