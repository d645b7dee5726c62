# Sourced by scripts that run in the project's folder: BACKUP_DIR as the environment or .env says, made when it is not there.
if [ -z "${BACKUP_DIR:-}" ] && [ -f .env ]; then
  BACKUP_DIR=$(sed -n 's/^BACKUP_DIR=//p' .env | tail -n 1)
fi
export BACKUP_DIR="${BACKUP_DIR:-./backups}"
mkdir -p "$BACKUP_DIR"
# Backups belong to the user whose folder it is.
owner_of() {
  stat -c %u:%g "$1" 2>/dev/null || printf '%s:%s' "$(id -u)" "$(id -g)"
}
