#!/bin/bash
# Runs the backup schedule: writes a backup in every interval, calls the hook after each backup, restores and compares a
# backup every BACKUP_CHECK_DAYS, and removes old backups.
#   keep-backups.sh            runs the schedule until it is stopped
#   keep-backups.sh --once     runs the due tasks once; exits with 1 if a task failed
#   keep-backups.sh --healthy  exits with 0 if the newest complete backup is younger than two intervals and the last backup
#                              and the last comparison succeeded
# The file `status` in the folder of the backups stores the results, for `scripts/doctor`. Times are UTC.
. "$(dirname "$0")/common.sh"
scripts=$(cd "$(dirname "$0")" && pwd)
hours=${BACKUP_HOURS:-24}
at=${BACKUP_AT:-03:00}
keep=${BACKUP_KEEP:-7}
keep_weeks=${BACKUP_KEEP_WEEKS:-4}
check_days=${BACKUP_CHECK_DAYS:-7}
hook=${BACKUP_HOOK_FILE:-/hook}
hook_seconds=${BACKUP_HOOK_SECONDS:-21600}
status_file=$backups/status
shortest_retry=900
longest_retry=21600
pattern='^auto-[0-9]{8}-[0-9]{6}$'

[[ $hours =~ ^[1-9][0-9]{0,3}$ ]] || fail "BACKUP_HOURS: found \"$hours\", allowed: whole hours from 1 to 9999"
[[ $at =~ ^([01][0-9]|2[0-3]):[0-5][0-9]$ ]] || fail "BACKUP_AT: found \"$at\", allowed: a time of day such as 03:00 (UTC)"
[[ $keep =~ ^[1-9][0-9]{0,3}$ ]] || fail "BACKUP_KEEP: found \"$keep\", allowed: a number of backups from 1"
[[ $keep_weeks =~ ^[0-9]{1,3}$ ]] || fail "BACKUP_KEEP_WEEKS: found \"$keep_weeks\", allowed: a number of weeks from 0"
[[ $check_days =~ ^[0-9]{1,3}$ ]] || fail "BACKUP_CHECK_DAYS: found \"$check_days\", allowed: a number of days; 0: never"
every=$((hours * 3600))
offset=$((10#${at%:*} * 3600 + 10#${at#*:} * 60))

say() { printf '%s %s\n' "$(date -u +%FT%TZ)" "$*"; }
stamp() { date -u +%FT%TZ; }

declare -A status
load_status() {
  status=()
  [ -f "$status_file" ] || return 0
  local key value
  while IFS='=' read -r key value; do [ -z "$key" ] || status[$key]=$value; done <"$status_file"
}
# save_status KEY VALUE…: an empty value removes the key.
save_status() {
  load_status
  while [ $# -gt 0 ]; do
    if [ -n "$2" ]; then status[$1]=$2; else unset "status[$1]"; fi
    shift 2
  done
  local key
  for key in "${!status[@]}"; do printf '%s=%s\n' "$key" "${status[$key]}"; done | sort >"$status_file.new"
  mv "$status_file.new" "$status_file"
}

seconds_of() { # seconds since 1970 of the time in the name of a backup
  local name=${1#auto-}
  date -u -d "${name:0:4}-${name:4:2}-${name:6:2} ${name:9:2}:${name:11:2}:${name:13:2}" +%s
}
list_backups() { # names of complete scheduled backups, the newest first
  local path
  for path in "$backups"/auto-*; do
    if [[ ${path##*/} =~ $pattern ]] && [ -f "$path/manifest.json" ]; then printf '%s\n' "${path##*/}"; fi
  done | sort -r
}

# attempt WHAT COMMAND…: runs a command. If the command fails, the last line of its output is stored as WHAT_failure.
attempt() {
  local what=$1 said=/tmp/said.$$ code=0 reason='' task=backup seconds=$every
  shift
  "$@" >"$said" 2>&1 &
  wait $! || code=$?
  cat "$said"
  if [ "$code" = 0 ]; then
    save_status "${what}_failed_at" '' "${what}_failure" ''
  else
    reason=$(tail -n 1 "$said" | tr -cd '[:print:]' | cut -c1-300)
    reason=${reason:-exit code $code}
    save_status "${what}_failed_at" "$(stamp)" "${what}_failure" "$reason"
  fi
  [ "$what" = backup ] || task=backup-$what
  [ "$what" != check ] || seconds=$((check_days * 86400))
  note_task "$task" "$reason" "$seconds"
  rm -f "$said"
  return "$code"
}

write_backup() {
  local name
  name=auto-$(date -u +%Y%m%d-%H%M%S)
  # Remove the files of an interrupted backup.
  rm -rf "$backups"/auto-*.partial
  attempt backup "$scripts/backup.sh" "$name"
}

copy_elsewhere() { # copy_elsewhere NAME
  say "hook for $1"
  attempt copy timeout "$hook_seconds" "$hook" "$1" "$backups/$1" || return 1
  save_status copied "$1" copied_at "$(stamp)"
}

check_backup() { # check_backup NAME
  say "restoring a copy of $1 to compare it"
  attempt check "$scripts/check-backup.sh" "$1" || return 1
  save_status checked "$1" checked_at "$(stamp)"
}

prune() {
  load_status
  local kept=0 name week oldest weeks=' '
  oldest=$(($(date +%s) - keep_weeks * 604800))
  for name in $(list_backups); do
    kept=$((kept + 1))
    week=$(($(seconds_of "$name") / 604800))
    [ "$kept" -gt "$keep" ] || continue
    # Retain the backup that was restored and compared last, until a later backup has been compared.
    [ "$name" != "${status[checked]:-}" ] || continue
    if [ "$(seconds_of "$name")" -ge "$oldest" ] && [[ $weeks != *" $week "* ]]; then
      weeks="$weeks$week "
      continue
    fi
    say "removing $name"
    rm -rf "${backups:?}/$name" || say "the backup $name cannot be removed"
  done
}

# Runs the due tasks. Returns 1 if a task failed.
work() {
  local now newest failed=0
  now=$(date +%s)
  newest=$(list_backups | sed -n 1p)
  if [ -z "$newest" ] || [ "$(seconds_of "$newest")" -lt $(((now - offset) / every * every + offset)) ]; then
    write_backup || failed=1
    newest=$(list_backups | sed -n 1p)
    [ "$failed" = 1 ] || prune
  fi
  load_status
  if [ -n "$newest" ] && [ -f "$hook" ] && [ -x "$hook" ] && [ "${status[copied]:-}" != "$newest" ]; then
    copy_elsewhere "$newest" || failed=1
  fi
  load_status
  local checked=0
  [ -z "${status[checked_at]:-}" ] || checked=$(date -u -d "${status[checked_at]}" +%s)
  if [ -n "$newest" ] && [ "$check_days" -gt 0 ] && [ $((now - checked)) -ge $((check_days * 86400)) ]; then
    check_backup "$newest" || failed=1
  fi
  return "$failed"
}

case ${1:-} in
  --healthy)
    load_status
    newest=$(list_backups | sed -n 1p)
    since=$(date -u -d "${status[started_at]:-now}" +%s)
    [ -z "$newest" ] || since=$(seconds_of "$newest")
    [ $(($(date +%s) - since)) -le $((2 * every)) ] || fail "the newest backup is older than two intervals of $hours hours"
    [ -z "${status[backup_failure]:-}${status[check_failure]:-}" ] || fail "${status[backup_failure]:-}${status[check_failure]:-}"
    exit 0
    ;;
  '' | --once) ;;
  *) fail 'usage: keep-backups.sh [--once | --healthy]' ;;
esac

[ -w "$backups" ] || fail "the user with the number $(id -u) cannot write into the folder of the backups: on the host, run: sudo install -d -o $(id -u) -g $(id -g) FOLDER"
load_status
save_status every_hours "$hours" check_hours $((check_days * 24)) started_at "${status[started_at]:-$(stamp)}"
if [ "${1:-}" = --once ]; then
  work
  exit
fi
trap 'trap "" TERM; kill -TERM 0; wait; exit 0' TERM INT
say "schedule: a backup every $hours hours (counted from $at UTC); retained: the newest $keep, and one per week for $keep_weeks weeks; restored and compared: one every $check_days days (0: never)"
retry=$shortest_retry
while true; do
  if work; then
    retry=$shortest_retry
    pause=60
  else
    pause=$retry
    say "the failed tasks are retried in $pause seconds"
    retry=$((retry * 2 < longest_retry ? retry * 2 : longest_retry))
  fi
  sleep "$pause" &
  wait $!
done
