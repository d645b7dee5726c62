import { readdir, readFile, readlink } from 'node:fs/promises'

/** Code of the LISTEN state in /proc/net/tcp. */
const LISTENING = '0A'

/**
 * Names the process that listens on a local TCP port, such as `node (process 1234)`. Undefined on systems other than
 * Linux and for processes of other users.
 */
export async function findPortHolder(port: number): Promise<string | undefined> {
  try {
    const sockets = await listeningSockets(port)
    if (sockets.size === 0) return undefined
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      if (await holdsOneOf(pid, sockets)) {
        const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim()
        return `${name} (process ${pid})`
      }
    }
  } catch {
    // Without /proc the process is unknown.
  }
  return undefined
}

async function listeningSockets(port: number): Promise<ReadonlySet<string>> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const rows = tables.flatMap((text) => text.split('\n').map((line) => line.trim().split(/\s+/)))
  return new Set(
    rows.flatMap((fields) =>
      fields[1]?.endsWith(wanted) === true && fields[3] === LISTENING ? [`socket:[${fields[9] ?? ''}]`] : [],
    ),
  )
}

async function holdsOneOf(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  for (const file of files) {
    const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => '')
    if (sockets.has(target)) return true
  }
  return false
}
