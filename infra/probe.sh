#!/bin/bash
# Whether a service of this container answers with success: probe.sh [--print] PATH [HOST PORT]. Without HOST and PORT those
# of the rendered file `listener` count. The shell alone does it: starting a program costs a hundred times as much processor
# time, and a busy machine takes seconds for it. --print shows the answer to people.
version=1.1
# Answers of HTTP/1.0 have no chunks.
if [ "$1" = --print ]; then version=1.0; shift; fi
host=${2:-} port=${3:-}
[ -n "$port" ] || read -r host port </etc/pronghorn/listener || exit 1
exec 3<>"/dev/tcp/$host/$port" || exit 1
printf 'GET %s HTTP/%s\r\nHost: %s:%s\r\nConnection: close\r\n\r\n' "$1" "$version" "$host" "$port" >&3
read -r -t "${PROBE_SECONDS:-25}" _ status _ <&3
if [ $version = 1.0 ]; then
  while read -r line && [ "$line" != $'\r' ]; do :; done <&3
  cat <&3
  echo
fi
[[ $status == 2?? ]]
