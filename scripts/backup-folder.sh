# Sourced by scripts that run in the project's folder: BACKUP_DIR as Compose reads it from the environment or .env (quotes,
# comments, variables), made when it is not there. Of its JSON this undoes what a path may hold, and the doubled dollar signs.
BACKUP_DIR=$(docker compose --profile tools config --format json backup |
  sed -n '/"source": /h; /"target": "\/backups"/{g; s/^ *"source": "\(.*\)",$/\1/; p;}' | tail -n 1 |
  sed 's/\\u0026/\&/g; s/\\u003c/</g; s/\\u003e/>/g; s/\\\(["\\]\)/\1/g; s/\$\$/$/g')
[ -n "$BACKUP_DIR" ] || exit 1
export BACKUP_DIR
mkdir -p "$BACKUP_DIR"
# Backups belong to the user whose folder it is.
owner_of() {
  stat -c %u:%g "$1" 2>/dev/null || printf '%s:%s' "$(id -u)" "$(id -g)"
}
