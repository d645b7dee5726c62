# Sourced by scripts that run in the project's folder. Reads BACKUP_DIR from the environment or .env as Compose does, with
# quotes, comments and variables; scripts/check lists settings that Compose cannot read. Only the project's own folder
# `backups` is created if it is missing: with a wrong path in BACKUP_DIR, backups would fill another disk.
said=$(docker compose --profile '*' config --quiet 2>&1) || {
  scripts/check >&2 && printf '%s\n' "$said" >&2
  exit 1
}
# Undoes the JSON escapes that a path may contain, and the doubled dollar signs.
BACKUP_DIR=$(docker compose --profile tools config --format json backup |
  sed -n '/"source": /h; /"target": "\/backups"/{g; s/^ *"source": "\(.*\)",$/\1/; p;}' | tail -n 1 |
  sed 's/\\u0026/\&/g; s/\\u003c/</g; s/\\u003e/>/g; s/\\\(["\\]\)/\1/g; s/\$\$/$/g')
[ -n "$BACKUP_DIR" ] || exit 1
export BACKUP_DIR
[ "$BACKUP_DIR" != "$PWD/backups" ] || mkdir -p "$BACKUP_DIR"
if [ ! -d "$BACKUP_DIR" ]; then
  printf 'BACKUP_DIR: found "%s" (the path is not a folder), allowed: an existing folder\n' "$BACKUP_DIR" >&2
  exit 1
fi
# Backups belong to the owner of the folder.
owner_of() {
  stat -c %u:%g "$1" 2>/dev/null || printf '%s:%s' "$(id -u)" "$(id -g)"
}
