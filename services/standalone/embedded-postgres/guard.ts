import { spawn } from 'node:child_process'

/**
 * Ends the server and removes the temporary folder when the program is gone, however it ended: the system closes the
 * pipe in every case. $1: folder to remove, or nothing.
 */
const SCRIPT = `
trap '' HUP INT TERM
initdb=0
server=0
while read -r word pid; do
  case $word in
    initdb) initdb=$pid ;;
    server) server=$pid ;;
    dismissed) exit 0 ;;
  esac
done
if [ "$initdb" -gt 1 ]; then kill -s KILL -- "-$initdb"; fi
if [ "$server" -gt 1 ]; then
  kill -INT "$server"
  tries=0
  while kill -0 "$server" && [ "$tries" -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -QUIT "$server"
fi
if [ -n "$1" ]; then rm -rf "$1"; fi
`

/** A process that outlives this one by as long as it takes to end the server. */
export interface Guard {
  /** The process group of initdb, or the server's process; 0 when it has ended. */
  note(what: 'initdb' | 'server', pid: number): void
  /** Everything was ended in order. */
  dismiss(): void
}

/** Starts a guard; `temporaryFolder` is removed at the end when it is given. */
export function startGuard(temporaryFolder: string | null): Guard {
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'pronghorn-guard', temporaryFolder ?? ''], {
    // In its own session: what ends the terminal, or all processes of a group, leaves it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  })
  guard.on('error', () => undefined)
  guard.unref()
  // Without a guard the program works; only a kill then leaves the server behind.
  guard.stdin.on('error', () => undefined)
  const say = (line: string) => guard.stdin.write(`${line}\n`)
  return {
    note: (what, pid) => void say(`${what} ${pid}`),
    dismiss() {
      say('dismissed 0')
      guard.stdin.end()
    },
  }
}
