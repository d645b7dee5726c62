import { readFile, readdir, readlink } from 'node:fs/promises'

/** Whether a process with this pid runs. A killed process that is not reaped yet does not count. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return (await statOf(pid))?.[0] !== 'Z'
}

/**
 * Start time of a process in ticks since boot; null without /proc. Distinguishes the process from a later process with
 * the same pid.
 */
export async function startOf(pid: number): Promise<string | null> {
  return (await statOf(pid))?.[19] ?? null
}

/** Pids of the PostgreSQL processes that run in the data folder. */
export async function serverProcessesIn(dataDir: string): Promise<number[]> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    names.map(async (name) => {
      if ((await readlink(`/proc/${name}/cwd`).catch(() => null)) !== dataDir) return []
      const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
      return /^(?:postgres: |\S*\/postgres\0)/.test(command) ? [Number(name)] : []
    }),
  )
  return found.flat()
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * Fields of /proc/<pid>/stat after the process name, from the state on. The name may contain blanks and parentheses,
 * so parsing starts after the last parenthesis.
 */
async function statOf(pid: number): Promise<string[] | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? null
}
