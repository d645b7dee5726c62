import { chown, readFile } from 'node:fs/promises'

/** Operating-system account under which the PostgreSQL server runs. */
export interface ServerAccount {
  readonly uid: number
  readonly gid: number
}

/**
 * Picks the operating-system account for PostgreSQL, which refuses to run as root. For root: the account `postgres` if
 * it exists, else `nobody`. For other users null: the server runs as the caller.
 */
export async function pickServerAccount(): Promise<ServerAccount | null> {
  if (process.getuid?.() !== 0) return null
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const entry = lines.find((fields) => fields[0] === name)
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  return { uid: 65534, gid: 65534 }
}

/** Makes the account of PostgreSQL the owner of a file or folder; does nothing if PostgreSQL runs as the caller. */
export async function giveTo(account: ServerAccount | null, path: string): Promise<void> {
  if (account) await chown(path, account.uid, account.gid)
}
