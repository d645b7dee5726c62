import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEMO_CHAIN_ID } from '../../services/core/chain-node/index.ts'
import { describeUnless } from '../setup/available.ts'
import { patient } from '../setup/patience.ts'
import { applianceVariables, run, runFailing, whyNoEngine } from './engine.ts'
import { isClean, Load, paths, tableOf } from './load.ts'
import type { StepReport } from './load.ts'
import { deriveImage, FAILING_MIGRATION, REWRITING_MIGRATION, startNode } from './versions.ts'

/** First commit of 1.0.0, which has the oldest schema that can be upgraded. */
const oldest = process.env.UPGRADE_FROM ?? '8c98c59'
const PROJECT = 'pronghorn-upgrade'
const ports = { http: 29_080, https: 29_443 }
const node = { name: `${PROJECT}-node`, http: 29_888, ship: 29_808 }
const image = (version: string) => `${PROJECT}:${version}`
/** Folder with the files of the oldest version. */
const checkout = `./.data/${PROJECT}-oldest`
const LONGEST = 3_600_000
/** Limit for the 99th percentile of the response times, ms. */
const MAX_P99_MS = 1_000
/**
 * Maximum number of seconds with failed requests while the container of the proxy is replaced. Requests fail because
 * the proxy does not answer, or cannot resolve the api's name yet.
 */
const MAX_PROXY_GAP_S = 15
/** Time after which the filler has written all received blocks of the paused node, ms. */
const REST_MS = 5_000

/** Command line of the program inside a container. */
const pronghorn = ['node', '/pronghorn/dist/services/cli/main.js']

interface Digest {
  readonly digest: string
  readonly readers: readonly { readonly block_num: number | string }[]
}

let variables: Record<string, string> = {
  ...applianceVariables(PROJECT, ports),
  ...{ PG_MEMORY: '1g', API_WORKERS: '1', COMPOSE_FILE: 'docker-compose.yml' },
}
const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)

describeUnless(whyNoEngine(), 'an appliance of the oldest version that can be upgraded', () => {
  const reports: StepReport[] = []
  let load: Load

  const clean = async (): Promise<void> => {
    await run(variables, 'docker', 'rm', '--force', node.name).catch(() => undefined)
    await compose('--profile', '*', 'down', '--volumes', '--timeout', '5')
  }

  /** Reads the digest of all tables. The tables must not change meanwhile. */
  const digest = async (): Promise<Digest> =>
    JSON.parse(await compose('exec', '--no-TTY', 'filler', ...pronghorn, 'digest', '--json')) as Digest

  const step = async (name: string, work: () => Promise<unknown>): Promise<StepReport> => {
    const report = await load.during(name, work)
    reports.push(report)
    return report
  }

  beforeAll(async () => {
    await clean()
    const archive = `git archive ${oldest} | docker build --quiet --tag ${image('oldest')} -`
    await run(variables, 'sh', '-c', archive)
    await run(variables, 'docker', 'build', '--quiet', '--tag', image('present'), '.')
    await deriveImage(variables, image('present'), image('later'), REWRITING_MIGRATION)
    await deriveImage(variables, image('later'), image('failing'), FAILING_MIGRATION)
    const host = await startNode(variables, node, image('oldest'))
    variables = {
      ...variables,
      ...{ PRONGHORN_IMAGE: image('oldest'), CHAIN_NAME: 'own', CHAIN_ID: DEMO_CHAIN_ID },
      ...{ CHAIN_HTTP: `http://${host}:${node.http}`, CHAIN_SHIP: `ws://${host}:${node.ship}` },
    }
    // The old version needs the compose files of its own commit.
    await run(variables, 'sh', '-c', `mkdir -p ${checkout} && git archive ${oldest} | tar -x -C ${checkout}`)
    const files = ['--project-directory', checkout, '--file', `${checkout}/docker-compose.yml`]
    await compose(...files, 'up', '--detach', '--wait')
    load = new Load(`https://localhost:${ports.https}`, paths, 3)
    // Wait a minute, in which the filler indexes some hundred blocks.
    await sleep(60_000)
    await run(variables, 'docker', 'pause', node.name)
    await sleep(REST_MS)
  }, LONGEST)

  afterAll(async () => {
    // The load generator (`load`) is undefined if `beforeAll` failed early.
    await (load as Load | undefined)?.stop()
    console.log(tableOf(reports))
    await run(variables, 'docker', 'unpause', node.name).catch(() => undefined)
    await clean()
  }, LONGEST)

  it(
    'an appliance of the oldest upgradable version answers during the upgrade, and keeps every row',
    async () => {
      const before = await digest()
      for (const version of ['present', 'later']) {
        variables = { ...variables, PRONGHORN_IMAGE: image(version) }
        const report = await step(`upgrade to ${version}`, upgrade)
        // The old version and `present` define the container of the proxy differently, so the upgrade replaces the
        // container. The ports of the proxy are closed meanwhile.
        if (version === 'present') expect(report.failedSeconds).toBeLessThanOrEqual(MAX_PROXY_GAP_S)
        else expect(report).toMatchObject(isClean)
        expect(report.p99Ms).toBeLessThan(MAX_P99_MS)
        expect(await digest()).toEqual(before)
      }
      const failing = { ...variables, PRONGHORN_IMAGE: image('failing') }
      const report = await step('upgrade that fails', async () => {
        expect(await runFailing(failing, 'scripts/upgrade', '--no-trial')).toMatch(
          /The version before runs on/,
        )
      })
      expect(report).toMatchObject(isClean)
      expect(await digest()).toEqual(before)
      await run(variables, 'docker', 'unpause', node.name)
      await expect
        .poll(() => run(variables, 'scripts/doctor').then(() => true, String), { timeout: patient(60_000) })
        .toBe(true)
      const position = async () => Number((await digest()).readers[0]!.block_num)
      await expect
        .poll(position, { timeout: patient(60_000) })
        .toBeGreaterThan(Number(before.readers[0]!.block_num))
    },
    LONGEST,
  )

  /**
   * Runs scripts/upgrade. The script ends with `doctor`, which reports that the paused node does not answer and, after
   * some minutes, that no blocks arrive.
   */
  async function upgrade(): Promise<void> {
    expect(await runFailing(variables, 'scripts/upgrade')).toMatch(/^UNHEALTHY: (?:one check|2 checks)/m)
  }
})
