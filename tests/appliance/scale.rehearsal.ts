import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnless } from '../setup/available.ts'
import { applianceVariables, run, whyNoEngine } from './engine.ts'
import { isClean, Load } from './load.ts'

const PROJECT = 'pronghorn-scale'
const ports = { http: 31_080, https: 31_443 }
const LONGEST = 1_800_000
const CLIENTS = 16
const SECONDS = 20
const WARM_SECONDS = 5

let variables: Record<string, string> = {
  ...applianceVariables(PROJECT, ports),
  ...{ COMPOSE_FILE: 'docker-compose.yml:docker-compose.override.yml', PG_MEMORY: '1g', API_WORKERS: '1' },
}

/** Request different pages, so that the cache answers few of the requests. */
const paths = Array.from({ length: 400 }, (_, i) => [
  `/atomicassets/v1/assets?limit=100&order=asc&sort=asset_id&lower_bound=${1_099_511_627_776 + i}`,
  `/atomicassets/v1/assets/${1_099_511_627_776 + i}`,
  `/atomicassets/v1/transfers?limit=${10 + (i % 90)}&page=${1 + (i % 7)}`,
  `/atomicmarket/v2/sales?limit=${10 + (i % 90)}&page=${1 + (i % 5)}`,
]).flat()

describeUnless(whyNoEngine(), 'an appliance with several api containers', () => {
  const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)
  const rows: string[] = []

  beforeAll(async () => {
    await compose('--profile', '*', 'down', '--volumes')
    await compose('up', '--detach', '--wait', '--build')
  }, LONGEST)

  afterAll(async () => {
    console.log(
      ['| Containers of api | Replica | Requests/s | p99 |', '|---|---|---|---|', ...rows].join('\n'),
    )
    await compose('--profile', '*', 'down', '--volumes')
  }, LONGEST)

  it(
    'an appliance answers with one, two and three API containers, and with a replica',
    async () => {
      for (const number of [1, 2, 3]) {
        await run(variables, 'scripts/apply', '--scale', `api=${number}`)
        await measure(`| ${number} | no |`)
      }
      variables = {
        ...variables,
        COMPOSE_FILE: `${variables.COMPOSE_FILE!}:docker-compose.scale.yml`,
        POSTGRES_REPLICAS: 'replica:5432',
      }
      await run(variables, 'scripts/apply')
      await measure('| 3 | yes |')
    },
    LONGEST,
  )

  async function measure(what: string): Promise<void> {
    const load = new Load(`https://localhost:${ports.https}`, paths, CLIENTS, 0)
    try {
      await sleep(WARM_SECONDS * 1_000)
      const report = await load.during(what, () => sleep(SECONDS * 1_000))
      expect(report).toMatchObject(isClean)
      rows.push(`${what} ${Math.round(report.requests / SECONDS)} | ${report.p99Ms} ms |`)
    } finally {
      await load.stop()
    }
  }
})
