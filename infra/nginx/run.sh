#!/bin/sh
# Runs nginx, and reloads nginx when the files of the certificate or the configuration have changed, so that a renewed
# certificate needs no restart.
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

# Logs a message once, however often it repeats. Time and process number, which nginx prepends, are not compared.
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
    complain "user $(id -u) cannot read $(echo $files): the previous certificate stays in use"
    continue
  fi
  # While the files are being replaced, a key may not match its certificate, or a file may be incomplete: such files are
  # tried again after RELOAD_SECONDS.
  if reason=$(nginx -t -q -c "$configuration" 2>&1); then
    complain ''
    kill -HUP "$server" && known=$found && echo 'certificate or configuration changed: reloaded' >&2
  else
    complain "the changed files cannot be used, and the previous certificate stays in use: $reason"
  fi
done
wait "$server"
