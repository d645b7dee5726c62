import { readFile, readdir, readlink } from 'node:fs/promises'

/** Whether a process of this number works; one that was killed and is not reaped yet does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return (await statOf(pid))?.[0] !== 'Z'
}

/** Start of a process in ticks since boot, which distinguishes it from a later one of its number; null without /proc. */
export async function startOf(pid: number): Promise<string | null> {
  return (await statOf(pid))?.[19] ?? null
}

/** Numbers of the processes of a server that work in its data folder; other processes there do not count. */
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

/** Waits. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The fields of /proc/<pid>/stat after the name, which may hold blanks and parentheses: the state is the first. */
async function statOf(pid: number): Promise<string[] | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? null
}
