#!/bin/sh
# Runs nginx, and has it read its certificate again when the files have changed: no restart for a renewal.
set -u
configuration=/etc/pronghorn/nginx/nginx.conf
fingerprint() {
  cat /etc/pronghorn/certificates/*.pem /etc/pronghorn/files/*.pem "$configuration" 2>/dev/null | cksum
}

nginx -c "$configuration" -g 'daemon off;' &
server=$!
trap 'kill -QUIT "$server"' TERM QUIT INT

known=$(fingerprint)
while kill -0 "$server" 2>/dev/null; do
  sleep "${RELOAD_SECONDS:-10}" &
  wait $! 2>/dev/null
  found=$(fingerprint)
  [ "$found" = "$known" ] && continue
  # A pair that does not fit yet, or a file half replaced, is tried again at the next look.
  if nginx -t -q -c "$configuration" 2>/dev/null; then
    kill -HUP "$server" && known=$found && echo 'certificate or configuration changed: reloaded' >&2
  fi
done
wait "$server"
