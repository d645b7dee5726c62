import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Secrets created at the first start, with the purpose of each. */
export const secretNames = {
  superuser: 'role that owns the bundled PostgreSQL',
  filler: 'role of the filler',
  api: 'role of the api',
  state: 'role of the state service',
  graphql: 'role with which Hasura reads the indexed data',
  hasura: 'role with which Hasura reads and writes the database with the settings of Hasura',
  redis: 'Redis',
  hasura_admin: 'admin interface of Hasura',
  grafana: 'user admin of Grafana',
} as const

export type SecretName = keyof typeof secretNames
/** Texts of all secrets by name. */
export type Secrets = Readonly<Record<SecretName, string>>

const BYTES = 32

/**
 * Reads the secrets of a directory and creates the missing secrets: 256 random bits each, as URL-safe text. An existing
 * secret is overwritten only if the operator gives another.
 *
 * @param given secrets of the operator; they replace existing secrets.
 */
export async function ensureSecrets(
  dir: string,
  given: Partial<Record<SecretName, string>>,
): Promise<{ secrets: Secrets; made: SecretName[] }> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const made: SecretName[] = []
  const entries: [SecretName, string][] = []
  for (const name of Object.keys(secretNames) as SecretName[]) {
    const existing = await readFile(join(dir, name), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    })
    const secret = given[name] ?? (existing === null || existing === '' ? newSecret() : existing)
    if (secret !== existing) {
      await writeSecret(dir, name, secret)
      made.push(name)
    }
    entries.push([name, secret])
  }
  return { secrets: Object.fromEntries(entries) as Record<SecretName, string>, made }
}

export function newSecret(): string {
  return randomBytes(BYTES).toString('base64url')
}

/** Replaces a secret atomically: an interruption leaves the old or the new file. */
async function writeSecret(dir: string, name: SecretName, secret: string): Promise<void> {
  await rename(await stageSecret(dir, name, secret), join(dir, name))
}

/** Writes a secret as `NAME.new`, next to the secret in use. @returns the path. */
export async function stageSecret(dir: string, name: SecretName, secret: string): Promise<string> {
  const path = join(dir, `${name}.new`)
  await rm(path, { force: true })
  await writeFile(path, secret, { mode: 0o400, flush: true })
  return path
}
