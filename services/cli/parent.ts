import { readFileSync } from 'node:fs'

const CHECK_MS = 500

/**
 * Aborts with `signal`, or when the process that started this one is gone: its parent, and, where npm started it through a
 * shell, npm. A process that was started to outlive its parent (by `setsid`, or by the first process of the system)
 * is not ended.
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

/** Numbers of the parent and, when asked for, of its parent: an orphan gets another one. */
function lineage(withGrandparent: boolean): string {
  const parent = process.ppid
  return withGrandparent ? `${parent} ${statOf(parent)[1] ?? ''}` : String(parent)
}

function isSessionLeader(): boolean {
  return statOf(process.pid)[3] === String(process.pid)
}

/** What follows the name in /proc/<pid>/stat: state, parent, process group, session. Empty without /proc. */
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
