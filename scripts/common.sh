# Sourced by the scripts that change a running appliance: services are replaced one container at a time.

say() { printf '%s\n' "$*" >&2; }

# Seconds for which the proxy may still use a former address of a service's name (nginx.conf, resolver).
readonly NAME_SECONDS=2

# Running containers of a service, oldest first.
running() { docker compose ps --quiet --status running "$1" 2>/dev/null | xargs --no-run-if-empty docker inspect --format '{{.Created}} {{.Id}}' | sort | cut -d' ' -f2; }

count() { running "$1" | wc -l; }

# Whether a container matches the current compose file and image.
is_current() {
  [ "$(docker inspect --format '{{index .Config.Labels "com.docker.compose.config-hash"}}' "$2")" = "$(docker compose config --hash "$1" | cut -d' ' -f2)" ] &&
    [ "$(docker inspect --format '{{.Image}}' "$2")" = "$(docker image inspect --format '{{.Id}}' "$(docker inspect --format '{{.Config.Image}}' "$2")" 2>/dev/null)" ]
}

# Runs a one-shot service to its end with the current settings, and shows its output if it fails. One-shot services run
# first and one by one, because Compose recreates every service that depends on a service which it recreates in the same
# call. The service `config` also counts as failed if the former configuration stays in use.
one_shot() {
  output=$(docker compose up --detach "$1" 2>&1) || { say "$output"; return 1; }
  id=$(docker compose ps --all --quiet "$1")
  ended=$(docker wait "$id")
  output=$(docker logs --tail 30 --since "$(docker inspect --format '{{.State.StartedAt}}' "$id")" "$id" 2>&1)
  case $ended:$output in *'The former configuration stays in use'*) ;; 0:*) return 0 ;; esac
  say "$output"
  return 1
}

# Replaces each container of a service by a new one. Once the new container answers and the proxy knows its address, the
# old container finishes its requests and stops. roll SERVICE [--all]: without --all, current containers are kept.
roll() {
  wanted=$(count "$1")
  for old in $(running "$1"); do
    [ "${2:-}" = --all ] || ! is_current "$1" "$old" || continue
    say "$1: replacing $(docker inspect --format '{{.Name}}' "$old" | cut -c2-)"
    if ! docker compose up --detach --no-recreate --wait --scale "$1=$((wanted + 1))" "$1" >/dev/null 2>&1; then
      new=$(running "$1" | tail -1)
      say "$1: the new container does not become healthy:"
      docker logs --tail 30 "$new" >&2
      remove_added "$1" "$wanted"
      return 1
    fi
    sleep "$NAME_SECONDS"
    docker stop --time 30 "$old" >/dev/null
    docker rm "$old" >/dev/null
  done
}

# Recreates the containers of a service that are not current. A service on which others depend is recreated alone, because
# Compose recreates every service that depends on a service which it recreates in the same call. (--no-deps would change
# the hash of the configuration.) recreate SERVICE [SECONDS]: the old container has SECONDS to stop.
recreate() {
  for each in $(docker compose ps --all --quiet "$1"); do
    ! is_current "$1" "$each" || continue
    output=$(docker compose up --detach --wait ${2:+--timeout "$2"} "$1" 2>&1) || { say "$output"; return 1; }
    say "$1: recreated"
    return 0
  done
}

# Removes the newest containers of a service beyond a number.
remove_added() {
  docker compose ps --all --quiet "$1" | xargs --no-run-if-empty docker inspect --format '{{.Created}} {{.Id}}' | sort -r | cut -d' ' -f2 |
    head -n "$(($(docker compose ps --all --quiet "$1" | wc -l) - $2))" | xargs --no-run-if-empty docker rm --force >/dev/null
}

# Checksums of the rendered files of each service that does not notice changed files by itself.
rendered() {
  docker compose run --rm --no-TTY --no-deps --entrypoint sh config -c '
    sum() { each=$1; shift; (cd "/rendered/$each" 2>/dev/null && echo "$each $(cat "$@" 2>/dev/null | cksum)"); }
    sum filler connections.config.json readers.config.json
    sum api connections.config.json server.config.json
    sum state connections.config.json
    sum prometheus prometheus.yml' 2>/dev/null
}

# Brings the running containers to the current settings and images, and starts missing services. The api and the state
# service answer requests meanwhile.
apply() {
  before=$(rendered)
  one_shot config
  changed=$(rendered | grep -vxF "$before" | cut -d' ' -f1 || true)
  one_shot migrate
  # The api answers without Redis, but not while it is recreated.
  recreate redis
  for service in api state; do
    [ "$(count "$service")" != 0 ] || continue
    if echo "$changed" | grep -qx "$service"; then roll "$service" --all; else roll "$service"; fi
  done
  if echo "$changed" | grep -qx filler; then
    say 'filler: restarting with new settings'
    running filler | xargs --no-run-if-empty docker restart --time 60 >/dev/null
  fi
  recreate filler
  if echo "$changed" | grep -qx prometheus; then
    say 'prometheus: reloading its configuration'
    running prometheus | xargs --no-run-if-empty docker kill --signal HUP >/dev/null
  fi
  # While the old proxy finishes its requests, its ports are closed.
  recreate nginx 2
  # Removes services that the settings no longer include, such as the devchain of the demo.
  for service in $(docker compose --profile '*' ps --services --status running); do
    docker compose config --services | grep -qx "$service" || docker compose --profile '*' rm --stop --force "$service" >/dev/null 2>&1
  done
  set --
  for service in api state; do set -- "$@" --scale "$service=$(n=$(count "$service"); echo "$((n > 0 ? n : 1))")"; done
  output=$(docker compose up --detach --wait "$@" 2>&1) || { say "$output"; return 1; }
  say "$(echo "$output" | grep ' Recreated$' || echo 'Everything else is as it was.')"
}
