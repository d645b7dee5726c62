import { spawn } from 'node:child_process'

/**
 * Shell script of the guard. Once Pronghorn has exited, even by a kill, the system closes the pipe from which this
 * script reads. The script then stops PostgreSQL and removes the temporary folder. $1: folder to remove, or empty.
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

/** A guard: a helper process that stops PostgreSQL if this process is killed. */
export interface Guard {
  /** Passes to the guard the process group of initdb, or the process id of PostgreSQL; 0 after that process has exited. */
  note(what: 'initdb' | 'server', pid: number): void
  /** Ends the guard process, once initdb and PostgreSQL have stopped. */
  dismiss(): void
}

/**
 * Starts the guard process. If this process ends without `dismiss`, the guard stops initdb and PostgreSQL, and removes
 * `temporaryFolder`.
 */
export function startGuard(temporaryFolder: string | null): Guard {
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'pronghorn-guard', temporaryFolder ?? ''], {
    // The guard runs in a session of its own, so that signals to the terminal or the process group do not reach the
    // guard.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  })
  guard.on('error', () => undefined)
  guard.unref()
  // A failed guard process is no error: it matters only if this process is killed, because PostgreSQL then keeps
  // running.
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
