#!/bin/bash
# Whether a service of this container answers with success: probe.sh PATH [HOST PORT]. Without HOST and PORT those of the
# rendered file `listener` count. The shell alone does it: starting a program costs a hundred times as much processor time,
# and a busy machine takes seconds for it.
host=${2:-} port=${3:-}
[ -n "$port" ] || read -r host port </etc/pronghorn/listener || exit 1
exec 3<>"/dev/tcp/$host/$port" || exit 1
printf 'GET %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n' "$1" "$host" "$port" >&3
read -r -t "${PROBE_SECONDS:-25}" _ status _ <&3
[[ $status == 2?? ]]
