import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { images } from '../../services/core/images/index.ts'
import { createClient } from '../../services/appliance/smoke/client.ts'
import { ensureSelfSigned } from '../../services/appliance/tls/certificate.ts'
import { DEMO_CHAIN_ID } from '../../services/core/chain-node/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless } from '../setup/available.ts'
import { applianceVariables, run, runFailing, whyNoEngine } from './engine.ts'
import { isClean, Load, paths, tableOf } from './load.ts'
import type { StepReport } from './load.ts'
import { deriveImage, REWRITING_MIGRATION, startNode } from './versions.ts'

const PROJECT = 'pronghorn-own'
const ports = { http: 31_080, https: 31_443 }
const node = { name: `${PROJECT}-node`, http: 31_888, ship: 31_808 }
const IMAGE = `${PROJECT}:before`
const LATER = `${PROJECT}:after`
const LONGEST = 3_600_000
const PASSWORD = 'of its own'
/** Folder of the operator's files. */
const folder = join('.data', PROJECT)
const files = join(packageRoot, folder)
const servers = { postgres: `${PROJECT}-postgres`, redis: `${PROJECT}-redis` }

let variables: Record<string, string> = {
  ...applianceVariables(PROJECT, ports),
  ...{ PRONGHORN_IMAGE: IMAGE, API_WORKERS: '1', COMPOSE_FILE: 'docker-compose.yml' },
  ...{ CHAIN_NAME: 'own', CHAIN_ID: DEMO_CHAIN_ID },
  ...{ POSTGRES_BUNDLED: 'false', POSTGRES_HOST: 'db.test', POSTGRES_SSL_MODE: 'verify-full' },
  POSTGRES_SUPERUSER_PASSWORD_FILE: `./${folder}/password`,
  POSTGRES_SSL_CA_FILE: `./${folder}/postgres/fullchain.pem`,
  POSTGRES_SSL_CERT_FILE: `./${folder}/client.pem`,
  POSTGRES_SSL_KEY_FILE: `./${folder}/client.key`,
  ...{ REDIS_BUNDLED: 'false', REDIS_HOST: 'redis.test', REDIS_TLS: 'true' },
  REDIS_PASSWORD_FILE: `./${folder}/password`,
  REDIS_TLS_CA_FILE: `./${folder}/redis/fullchain.pem`,
}
const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)
const docker = (...words: string[]): Promise<string> => run(variables, 'docker', ...words)

/** Writes the certificates of both servers and of the client, the password file, and pg_hba.conf. */
async function writeFiles(): Promise<void> {
  await rm(files, { recursive: true, force: true })
  await mkdir(files, { recursive: true })
  await ensureSelfSigned(join(files, 'postgres'), 'db.test')
  await ensureSelfSigned(join(files, 'redis'), 'redis.test')
  const client = await generate([{ name: 'commonName', value: 'pronghorn' }], {
    ...{ keyType: 'ec', curve: 'P-256', algorithm: 'sha256' },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'extKeyUsage', clientAuth: true },
    ],
  })
  await writeFile(join(files, 'client.pem'), client.cert, { mode: 0o444 })
  await writeFile(join(files, 'client.key'), client.private, { mode: 0o444 })
  await writeFile(join(files, 'password'), `${PASSWORD}\n`, { mode: 0o444 })
  const logins = 'local all all trust\nhostssl all all all scram-sha-256 clientcert=verify-ca\n'
  await writeFile(join(files, 'pg_hba.conf'), logins, { mode: 0o444 })
}

/** Starts PostgreSQL and Redis in the network of the appliance. Both accept TLS connections only. */
async function startServers(): Promise<void> {
  // Creates the networks of the appliance without starting a service.
  await compose('up', '--no-start', 'config')
  const start = (name: keyof typeof servers, alias: string, ...words: string[]): Promise<string> =>
    docker(
      ...['run', '--detach', '--name', servers[name], '--volume', `${files}:/files:ro`],
      ...['--network', `${PROJECT}_outside`, '--network-alias', alias, '--user', '0:0'],
      ...words,
    )
  const settings = [
    ...['ssl=on', 'ssl_cert_file=/files/postgres/fullchain.pem', 'ssl_key_file=/tmp/privkey.pem'],
    ...['ssl_ca_file=/files/client.pem', 'hba_file=/files/pg_hba.conf', 'fsync=off', 'max_connections=200'],
  ]
  // PostgreSQL refuses a key file that another user owns or can read.
  const key = 'install -o 999 -g 999 -m 600 /files/postgres/privkey.pem /tmp/privkey.pem'
  await start(
    ...(['postgres', 'db.test', '--env', `POSTGRES_PASSWORD=${PASSWORD}`, '--shm-size', '256m'] as const),
    ...['--entrypoint', 'bash', images.postgres, '-c'],
    `${key} && exec docker-entrypoint.sh postgres ${settings.map((each) => `-c ${each}`).join(' ')}`,
  )
  await start(
    ...(['redis', 'redis.test', '--entrypoint', 'redis-server', images.redis] as const),
    ...['--port', '0', '--tls-port', '6379', '--tls-auth-clients', 'no', '--requirepass', PASSWORD],
    ...['--tls-cert-file', '/files/redis/fullchain.pem', '--tls-key-file', '/files/redis/privkey.pem'],
  )
}

describeUnless(whyNoEngine(), 'an appliance with servers of its operator', () => {
  const reports: StepReport[] = []
  let load: Load | undefined

  const clean = async (): Promise<void> => {
    for (const name of [node.name, servers.postgres, servers.redis])
      await docker('rm', '--force', '--volumes', name).catch(() => undefined)
    await compose('--profile', '*', 'down', '--volumes', '--timeout', '5')
  }

  const step = async (name: string, work: () => Promise<unknown>): Promise<StepReport> => {
    const report = await load!.during(name, work)
    reports.push(report)
    return report
  }

  beforeAll(async () => {
    await clean()
    // Delete the backups of an earlier run.
    await rm(join(packageRoot, variables.BACKUP_DIR!), { recursive: true, force: true })
    await mkdir(join(packageRoot, variables.BACKUP_DIR!))
    await writeFiles()
    await docker('build', '--quiet', '--tag', IMAGE, '.')
    await deriveImage(variables, IMAGE, LATER, REWRITING_MIGRATION)
    const host = await startNode(variables, node, IMAGE)
    variables = {
      ...variables,
      ...{ CHAIN_HTTP: `http://${host}:${node.http}`, CHAIN_SHIP: `ws://${host}:${node.ship}` },
    }
    await startServers()
    await compose('up', '--detach', '--wait')
    load = new Load(`https://localhost:${ports.https}`, paths, 3)
  }, LONGEST)

  afterAll(async () => {
    await load?.stop()
    console.log(tableOf(reports))
    await clean()
  }, LONGEST)

  it(
    "an appliance with the operator's own servers starts no bundled server, and answers during an upgrade, a backup and a rotation of secrets",
    async () => {
      variables = { ...variables, RATE_LIMIT_REQUESTS: '900000' }
      expect(await step('apply', () => run(variables, 'scripts/apply'))).toMatchObject(isClean)
      variables = { ...variables, PRONGHORN_IMAGE: LATER }
      expect(await step('upgrade', () => run(variables, 'scripts/upgrade'))).toMatchObject(isClean)
      expect(await step('rotated secrets', () => run(variables, 'scripts/rotate-secrets'))).toMatchObject(
        isClean,
      )
      expect(await step('backup', () => run(variables, 'scripts/backup', 'own'))).toMatchObject(isClean)
      expect(await run(variables, 'scripts/doctor')).not.toMatch(/^fail/m)

      // Restore into another database of the same server. The appliance answers no requests meanwhile.
      variables = { ...variables, POSTGRES_DATABASE: 'restored' }
      await step('restore', () => run(variables, 'scripts/restore', 'own'))
      const ask = createClient(new URL(`https://localhost:${ports.https}`), true)
      for (const path of paths) expect((await ask(path)).status).toBe(200)

      const services = (await compose('ps', '--all', '--services')).trim().split('\n')
      expect(services).toContain('api')
      expect(services).not.toContain('postgres')
      expect(services).not.toContain('redis')
    },
    LONGEST,
  )

  it('prepare-database names the PostgreSQL server whose certificate the configured CA did not sign', async () => {
    const other = { ...variables, POSTGRES_SSL_CA_FILE: `./${folder}/redis/fullchain.pem` }
    const words = ['compose', 'run', '--rm', '--no-TTY', '--no-deps'] as const
    await run(other, 'docker', ...words, 'config')
    const text = await runFailing(other, 'docker', ...words, 'migrate', 'prepare-database', '--wait', '1')
    expect(text).toMatch(/^DATABASE_TLS: PostgreSQL at db\.test:5432 cannot be reached over TLS/m)
  })
})
