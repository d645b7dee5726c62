import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureSelfSigned } from '../../services/appliance/tls/certificate.ts'
import { createClient } from '../../services/appliance/smoke/client.ts'
import { DEMO_CHAIN_ID } from '../../services/core/chain-node/index.ts'
import { readServedCertificate } from '../../services/core/http/listener/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless } from '../setup/available.ts'
import { patient } from '../setup/patience.ts'
import { applianceVariables, run, runFailing, whyNoEngine } from './engine.ts'
import { isClean, Load, paths, tableOf } from './load.ts'
import type { StepReport } from './load.ts'
import { deriveImage, FAILING_MIGRATION, REWRITING_MIGRATION, startNode } from './versions.ts'

const PROJECT = 'pronghorn-changes'
const ports = { http: 27_080, https: 27_443 }
const elsewhere = { ...applianceVariables(`${PROJECT}-2`, { http: 26_080, https: 26_443 }) }
const node = { name: `${PROJECT}-node`, http: 27_888, ship: 27_808 }
const IMAGE = 'pronghorn-changes:before'
const LATER = 'pronghorn-changes:after'
const FAILING = 'pronghorn-changes:failing'
const url = `https://localhost:${ports.https}`
const certificates = join('.data', `${PROJECT}-certificates`)
const LONGEST = 3_600_000

let variables: Record<string, string> = {
  ...applianceVariables(PROJECT, ports),
  ...{ TLS_DIR: `./${certificates}`, PRONGHORN_IMAGE: IMAGE, PG_MEMORY: '1g', API_WORKERS: '1' },
}
const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)

describeUnless(whyNoEngine(), 'an appliance that is changed under load', () => {
  const reports: StepReport[] = []
  let load: Load

  /** Runs a step under load and writes the table of all steps so far to the data folder. */
  const step = async (name: string, work: () => Promise<unknown>): Promise<StepReport> => {
    const report = await load.during(name, work)
    reports.push(report)
    await writeFile(join(packageRoot, '.data/changes-rehearsal.md'), `${tableOf(reports)}\n`)
    return report
  }

  const containers = async (...services: string[]): Promise<string> => compose('ps', '--quiet', ...services)

  const clean = async (): Promise<void> => {
    await run(variables, 'docker', 'rm', '--force', node.name).catch(() => undefined)
    for (const files of ['docker-compose.yml:docker-compose.scale.yml']) {
      for (const each of [variables, { ...variables, ...elsewhere }]) {
        const words = ['compose', '--profile', '*', 'down', '--volumes', '--timeout', '5'] as const
        await run({ ...each, COMPOSE_FILE: files }, 'docker', ...words)
      }
    }
  }

  beforeAll(async () => {
    await rm(join(packageRoot, variables.BACKUP_DIR!), { recursive: true, force: true })
    await mkdir(join(packageRoot, variables.BACKUP_DIR!))
    await mkdir(join(packageRoot, certificates), { recursive: true })
    await ensureSelfSigned(join(packageRoot, certificates), 'localhost')
    await clean()
    await run(variables, 'docker', 'build', '--quiet', '--tag', IMAGE, '.')
    await deriveImage(variables, IMAGE, LATER, REWRITING_MIGRATION)
    await deriveImage(variables, LATER, FAILING, FAILING_MIGRATION)
    await compose('up', '--detach', '--wait')
    load = new Load(url, paths, 3)
  }, LONGEST)

  afterAll(async () => {
    // The load generator (`load`) is undefined if `beforeAll` failed early.
    await (load as Load | undefined)?.stop()
    console.log(tableOf(reports))
    await clean()
  }, LONGEST)

  it(
    'an appliance that is reconfigured under load answers every request',
    async () => {
      const demo = await step('demo to its own chain', toOwnChain)
      expect(demo).toMatchObject(isClean)
      expect((await containers('devchain')).trim()).toBe('')

      const untouched = ['postgres', 'redis', 'nginx', 'filler', 'state']
      const before = await containers(...untouched)
      variables = { ...variables, RATE_LIMIT_REQUESTS: '900000' }
      expect(await step('changed rate limit', () => run(variables, 'scripts/apply'))).toMatchObject(isClean)
      expect(await containers(...untouched)).toBe(before)

      variables = { ...variables, TLS_MODE: 'files' }
      const old = await readServedCertificate('localhost', ports.https, 'localhost')
      const tls = await step('new TLS mode', async () => {
        await run(variables, 'scripts/apply')
        const fingerprint = async () =>
          (await readServedCertificate('localhost', ports.https, 'localhost')).fingerprint
        await expect.poll(fingerprint, { timeout: patient(60_000) }).not.toBe(old.fingerprint)
      })
      expect(tls).toMatchObject(isClean)

      expect(await step('rotated secrets', () => run(variables, 'scripts/rotate-secrets'))).toMatchObject(
        isClean,
      )
      const scale = ['--scale', 'api=3'] as const
      expect(
        await step('three api containers', () => run(variables, 'scripts/apply', ...scale)),
      ).toMatchObject(isClean)
      expect((await containers('api')).trim().split('\n')).toHaveLength(3)

      variables = {
        ...variables,
        COMPOSE_FILE: 'docker-compose.yml:docker-compose.scale.yml',
        POSTGRES_REPLICAS: 'replica:5432',
      }
      expect(await step('a replica', () => run(variables, 'scripts/apply'))).toMatchObject(isClean)
      expect((await containers('api')).trim().split('\n')).toHaveLength(3)

      variables = { ...variables, PRONGHORN_IMAGE: LATER }
      expect(await step('upgrade', () => run(variables, 'scripts/upgrade'))).toMatchObject(isClean)
      expect(await step('backup', () => run(variables, 'scripts/backup', 'rehearsal'))).toMatchObject(isClean)

      const there = {
        ...variables,
        ...elsewhere,
        BACKUP_DIR: variables.BACKUP_DIR!,
        COMPOSE_FILE: 'docker-compose.yml',
      }
      await step('restore elsewhere', () =>
        run({ ...there, POSTGRES_REPLICAS: '' }, 'scripts/restore', 'rehearsal'),
      )
      const { status } = await createClient(new URL('https://localhost:26443'), true)(paths[0]!)
      expect(status).toBe(200)

      const refused = await step('upgrade that fails', async () => {
        const text = await runFailing(
          { ...variables, PRONGHORN_IMAGE: FAILING },
          'scripts/upgrade',
          '--no-trial',
        )
        expect(text).toMatch(/The version before runs on/)
      })
      expect(refused).toMatchObject(isClean)
    },
    LONGEST,
  )

  async function toOwnChain(): Promise<void> {
    const host = await startNode(variables, node, IMAGE)
    variables = {
      ...variables,
      ...{ COMPOSE_FILE: 'docker-compose.yml', CHAIN_NAME: 'own', CHAIN_ID: DEMO_CHAIN_ID },
      // The present database contains the demo chain's blocks, so the appliance needs a new database for the blocks of
      // this node.
      POSTGRES_DATABASE: 'own',
      ...{ CHAIN_HTTP: `http://${host}:${node.http}`, CHAIN_SHIP: `ws://${host}:${node.ship}` },
    }
    await run(variables, 'scripts/apply')
  }
})
