#!/bin/sh
# Runs nginx, and has it read its certificate again when the files have changed: no restart for a renewal.
set -u
configuration=/etc/pronghorn/nginx/nginx.conf
fingerprint() {
  { cat /etc/pronghorn/certificates/*.pem /etc/pronghorn/files/*.pem "$configuration"; unreadable; } 2>/dev/null | cksum
}

# Files that the configuration names and that this user cannot read, with their owner and mode.
unreadable() {
  sed -n 's/^ *ssl_certificate\(_key\)\{0,1\}  *\([^ ;]*\);.*/\2/p' "$configuration" | while read -r file; do
    [ -r "$file" ] || echo "$file ($(stat -c 'owner %u, mode %a' "$file" 2>/dev/null || echo 'not found'))"
  done
}

# The same complaint is logged once: nginx puts the time and its process before it.
complaint=''
complain() {
  said=$(echo "$1" | sed 's|[0-9/]* [0-9:]* \(\[[a-z]*\]\) [0-9]*#[0-9]*: |\1 |')
  [ "$said" = "$complaint" ] || [ -z "$said" ] || echo "$said" >&2
  complaint=$said
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
  files=$(unreadable)
  if [ -n "$files" ]; then
    complain "cannot read $(echo $files), needed by user $(id -u): the certificate of before is still served"
    continue
  fi
  # A pair that does not fit yet, or a file half replaced, is tried again at the next look.
  if reason=$(nginx -t -q -c "$configuration" 2>&1); then
    complain ''
    kill -HUP "$server" && known=$found && echo 'certificate or configuration changed: reloaded' >&2
  else
    complain "what has changed cannot be used, the certificate of before is still served: $reason"
  fi
done
wait "$server"
