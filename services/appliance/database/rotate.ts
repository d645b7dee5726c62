import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { connectDatabase, databaseFailure } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { ensureSecrets, newSecret, secretNames, stageSecret } from '../render/index.ts'
import type { SecretName } from '../render/index.ts'
import { addRedisPassword } from './redis-password.ts'
import type { RedisAddress } from './redis-password.ts'
import { ensureRoles, scramVerifier } from './roles.ts'

export interface RotateOptions {
  /** Folder with a file for each secret. */
  readonly dir: string
  /** Host and port of PostgreSQL, and its superuser, whose password is read from the secrets. */
  readonly address: Omit<DatabaseAddress, 'password' | 'database'>
  /**
   * The bundled Redis, which accepts the old and the new password until `settleRedisPassword`. Null: an external Redis,
   * whose operator changes the password.
   */
  readonly redis: RedisAddress | null
  /** Whether the PostgreSQL server is external; its operator then changes the superuser password. */
  readonly keepSuperuser?: boolean
}

const STAGED = '.new'

interface Witness {
  readonly secret: string
  readonly address: RotateOptions['address']
}

/**
 * Replaces every secret: the roles get their new passwords in one transaction, and the files are replaced after its
 * commit. The next rotation completes or discards an
 * interrupted rotation. Services read a new database password when they
 * next connect; the other secrets take effect after a restart.
 *
 * @throws see `databaseFailure`; all roles keep their passwords.
 */
export async function rotateSecrets({
  dir,
  address,
  redis,
  keepSuperuser = false,
}: RotateOptions): Promise<SecretName[]> {
  // The witness is a role whose password every rotation changes. If PostgreSQL accepts the role's password in the file
  // `*.new`, which an interrupted rotation left, then that rotation committed its transaction.
  const witness = keepSuperuser
    ? { secret: 'filler', address: { ...address, user: 'pronghorn_filler' } }
    : { secret: 'superuser', address }
  await settleStaged(dir, witness)
  const { secrets: old } = await ensureSecrets(dir, {})
  const names = Object.keys(secretNames) as SecretName[]
  const staysSame = (name: SecretName) =>
    (keepSuperuser && name === 'superuser') || (redis === null && name === 'redis')
  const secrets = Object.fromEntries(
    names.map((name) => [name, staysSame(name) ? old[name] : newSecret()]),
  ) as Record<SecretName, string>
  if (redis !== null) await addRedisPassword(redis, old.redis, secrets.redis)
  const admin = await connect(address, old.superuser)
  try {
    await admin.query('BEGIN')
    await ensureRoles(admin, secrets)
    if (!keepSuperuser) {
      await admin.query(`ALTER ROLE "${address.user}" PASSWORD '${scramVerifier(secrets.superuser)}'`)
    }
    for (const name of names) await stageSecret(dir, name, secrets[name])
    await admin.query('COMMIT')
  } finally {
    await admin.end()
  }
  await takeStaged(dir)
  return names.filter((name) => !staysSame(name))
}

/**
 * Finishes an interrupted rotation: if PostgreSQL has the new passwords, the files `*.new` replace the secrets; else
 * they are deleted.
 */
async function settleStaged(dir: string, witness: Witness): Promise<void> {
  const staged = await readFile(join(dir, `${witness.secret}${STAGED}`), 'utf8').catch(() => null)
  if (staged !== null) {
    const client = await connect(witness.address, staged).catch(() => null)
    await client?.end()
    if (client !== null) return takeStaged(dir)
  }
  for (const file of await listStaged(dir)) await rm(join(dir, file), { force: true })
}

async function takeStaged(dir: string): Promise<void> {
  for (const file of await listStaged(dir)) {
    await rename(join(dir, file), join(dir, file.slice(0, -STAGED.length)))
  }
}

async function listStaged(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((file) => file.endsWith(STAGED))
}

function connect(address: RotateOptions['address'], password: string): ReturnType<typeof connectDatabase> {
  return connectDatabase(
    { ...address, password, database: 'postgres' },
    { applicationName: 'pronghorn-rotate' },
  ).catch((cause: unknown) => {
    throw databaseFailure(cause, 'PostgreSQL cannot be reached', { ...address, database: 'postgres' })
  })
}
