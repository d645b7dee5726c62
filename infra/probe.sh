#!/bin/bash
# Checks whether a service of this container answers with a success status: probe.sh [--print] PATH [HOST PORT]. The default
# of HOST and PORT is in the rendered file `listener`. The script starts no program: starting one costs a hundred times as
# much processor time, and takes seconds on a busy machine. --print shows the answer to people.
version=1.1
# --print uses HTTP/1.0: its answers are not split into chunks.
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
