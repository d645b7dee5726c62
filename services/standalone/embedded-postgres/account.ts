import { chown, readFile } from 'node:fs/promises'

/** The operating-system account that the server runs as. */
export interface ServerAccount {
  readonly uid: number
  readonly gid: number
}

/**
 * PostgreSQL refuses to run as root. For root this picks the account `postgres` when the machine has it, else
 * `nobody`; otherwise null: the server runs as the caller.
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

/** Hands a file or folder to the server's account; does nothing when the server runs as the caller. */
export async function giveTo(account: ServerAccount | null, path: string): Promise<void> {
  if (account) await chown(path, account.uid, account.gid)
}
