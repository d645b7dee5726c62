import { readFileSync } from 'node:fs'

const CHECK_MS = 500

/**
 * Returns a signal that aborts with `signal`, or when the parent process is gone; if npm started this process through
 * a shell, also when npm is gone. A process started to outlive its parent (by `setsid` or by pid 1) ignores its
 * parent.
 */
export function endWithParent(signal: AbortSignal, startedByNpm: boolean): AbortSignal {
  const started = lineage(startedByNpm)
  if (signal.aborted || process.ppid <= 1 || isSessionLeader()) return signal
  const orphaned = new AbortController()
  const ending = AbortSignal.any([signal, orphaned.signal])
  const timer = setInterval(() => {
    if (lineage(startedByNpm) !== started) orphaned.abort()
  }, CHECK_MS)
  timer.unref()
  ending.addEventListener('abort', () => clearInterval(timer))
  return ending
}

/**
 * Pids of the parent and, on request, of the grandparent. When one of them exits, the kernel assigns another parent.
 */
function lineage(withGrandparent: boolean): string {
  const parent = process.ppid
  return withGrandparent ? `${parent} ${statOf(parent)[1] ?? ''}` : String(parent)
}

function isSessionLeader(): boolean {
  return statOf(process.pid)[3] === String(process.pid)
}

/**
 * Fields of /proc/<pid>/stat after the process name: state, parent pid, process group, session. Empty without /proc.
 */
function statOf(pid: number): string[] {
  const text = readText(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
