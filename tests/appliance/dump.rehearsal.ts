import { EventEmitter, once } from 'node:events'
import { chown, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { DEMO_CHAIN_ID } from '../../services/core/chain-node/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { sealedKinds } from '../../services/core/seals/index.ts'
import { asIs, serveDump } from '../dump/dump-server.ts'
import type { DumpServer } from '../dump/dump-server.ts'
import { describeUnless } from '../setup/available.ts'
import { patient } from '../setup/patience.ts'
import { applianceVariables, run, runFailing, whyNoEngine } from './engine.ts'
import { isClean, Load, paths, tableOf } from './load.ts'
import { startNode } from './versions.ts'

const PROJECT = 'pronghorn-dump'
const IMAGE = `${PROJECT}:present`
const node = { name: `${PROJECT}-node`, http: 25_888, ship: 25_808 }
const publisherPorts = { http: 25_080, https: 25_443 }
const folder = join(packageRoot, '.data', `${PROJECT}-files`)
/** User id of the processes in the containers. */
const CONTAINER_USER = 1_000
const SEALED_BLOCKS = 50
const LONGEST = 1_800_000
const pronghorn = ['node', '/pronghorn/dist/services/cli/main.js']

type Variables = Readonly<Record<string, string>>

const shared = {
  PRONGHORN_IMAGE: IMAGE,
  PG_MEMORY: '1g',
  API_WORKERS: '1',
  COMPOSE_FILE: 'docker-compose.yml',
}
let publisher: Variables = { ...applianceVariables(PROJECT, publisherPorts), ...shared }
let restorer: Variables = {
  ...applianceVariables(`${PROJECT}-2`, { http: 24_080, https: 24_443 }),
  ...shared,
}

const compose = (variables: Variables, ...words: string[]): Promise<string> =>
  run(variables, 'docker', 'compose', ...words)

const execute = (variables: Variables, ...words: string[]): Promise<string> =>
  compose(variables, 'exec', '--no-TTY', 'filler', ...pronghorn, ...words)

interface Digest {
  readonly digest: string
  readonly readers: readonly { readonly block_num: number | string }[]
}

const digestOf = async (variables: Variables) =>
  JSON.parse(await execute(variables, 'digest', '--json')) as Digest

interface Seals {
  readonly sealed_to: number
  readonly seals: readonly {
    readonly kind: string
    readonly ranges: readonly { readonly last_block: number; readonly digest: string }[]
  }[]
}

/** Reads the seals of all ranges that end at or before a block. */
async function sealsUpTo(variables: Variables, block: number): Promise<string[]> {
  const { seals } = JSON.parse(await execute(variables, 'seals', '--from', '0', '--json')) as Seals
  return seals.flatMap(({ kind, ranges }) =>
    ranges
      .filter((range) => range.last_block <= block)
      .map((range) => `${kind} ${range.last_block} ${range.digest}`),
  )
}

/** Changes the range size in the database, so that the filler seals ranges of few blocks. */
async function shortenRanges(variables: Variables): Promise<void> {
  const id = (await compose(variables, 'ps', '--quiet', 'postgres')).trim()
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}'
  const hosts = await run(variables, 'docker', 'inspect', '--format', format, id)
  const secret = ['--entrypoint', 'cat', 'config', '/rendered/secrets/superuser']
  const password = await compose(variables, 'run', '--rm', '--no-TTY', ...secret)
  const client = await connectDatabase(
    { host: hosts.trim().split(' ')[0]!, port: 5432, user: 'postgres', password, database: 'pronghorn' },
    { applicationName: 'rehearsal' },
  )
  await client.query(
    `INSERT INTO chain.sealed (kind, reader, range_blocks, sealed_to, next_position)
     SELECT kind, (SELECT name FROM chain.readers), $2, -1, -9223372036854775808 FROM unnest($1::text[]) kind`,
    [sealedKinds.map(({ name }) => name), SEALED_BLOCKS],
  )
  await client.end()
}

describeUnless(whyNoEngine(), 'a dump that one appliance publishes and another restores', () => {
  let load: Load
  let server: DumpServer

  const clean = async (): Promise<void> => {
    await run(publisher, 'docker', 'rm', '--force', node.name).catch(() => undefined)
    for (const variables of [publisher, restorer])
      await compose(variables, '--profile', '*', 'down', '--volumes', '--timeout', '5')
    await rm(folder, { recursive: true, force: true })
  }

  beforeAll(async () => {
    await run(publisher, 'docker', 'build', '--quiet', '--tag', IMAGE, '.')
    await clean()
    const host = await startNode(publisher, node, IMAGE)
    const chain = {
      ...{ CHAIN_NAME: 'own', CHAIN_ID: DEMO_CHAIN_ID },
      ...{ CHAIN_HTTP: `http://${host}:${node.http}`, CHAIN_SHIP: `ws://${host}:${node.ship}` },
    }
    publisher = { ...publisher, ...chain }
    restorer = { ...restorer, ...chain }
    await compose(publisher, 'up', '--detach', '--wait')
    await mkdir(folder, { recursive: true })
    await chown(folder, CONTAINER_USER, CONTAINER_USER)
    server = await serveDump(folder, host)
    load = new Load(`https://localhost:${publisherPorts.https}`, paths, 2, 100)
  }, LONGEST)

  afterAll(async () => {
    // The load generator (`load`) and the dump server (`server`) are undefined if `beforeAll` failed early.
    await (load as Load | undefined)?.stop()
    await (server as DumpServer | undefined)?.stop()
    await run(publisher, 'docker', 'unpause', node.name).catch(() => undefined)
    await clean()
  }, LONGEST)

  it(
    'a restore killed halfway continues at the next start, the API waits until it is complete, and its rows have the same seals',
    async () => {
      const position = async () => Number((await digestOf(publisher)).readers[0]!.block_num)
      await expect.poll(position, { timeout: patient(300_000), interval: 2_000 }).toBeGreaterThan(900)
      await shortenRanges(publisher)
      await compose(publisher, 'restart', 'filler')
      const sealedTo = async () =>
        (JSON.parse(await execute(publisher, 'seals', '--json')) as Seals).sealed_to
      await expect.poll(sealedTo, { timeout: patient(300_000), interval: 2_000 }).toBeGreaterThan(800)

      const target = ['run', '--rm', '--no-deps', '--no-TTY', '--volume', `${folder}:/dump`]
      let report = ''
      const published = await load.during('publish', async () => {
        report = await compose(publisher, ...target, 'filler', 'publish', '/dump', '--json')
      })
      console.log(tableOf([published]))
      expect(published).toMatchObject(isClean)

      await compose(restorer, 'up', '--detach', '--wait', 'postgres')
      await compose(
        restorer,
        ...['run', '--rm', '--no-TTY', 'migrate', 'prepare-database', '--without-schema'],
      )
      await killHalfway()
      expect(await runFailing(restorer, 'docker', 'compose', 'run', '--rm', '--no-TTY', 'migrate')).toContain(
        'RESTORE_UNFINISHED',
      )
      await compose(restorer, 'up', '--detach', '--no-deps', 'api')
      const lines = await restore(`${PROJECT}-restore`)
      console.log(lines)
      expect(lines).toMatch(/^rows: [\d.]+ of [\d.]+ MiB, \d+ rows/m)
      expect(lines).toMatch(/^[1-9]\d* files were already loaded by an earlier run\.$/m)
      expect(await compose(restorer, 'logs', '--no-log-prefix', 'api')).toContain('is being restored')
      await compose(restorer, 'up', '--detach', '--wait')

      // The node pauses at a block, so that the two fillers end at the same block.
      await sleep(10_000)
      await run(publisher, 'docker', 'pause', node.name)
      await sleep(5_000)
      expect(await digestOf(restorer)).toEqual(await digestOf(publisher))
      const sealed = (JSON.parse(report) as { readonly seals: Seals }).seals.sealed_to
      const seals = await sealsUpTo(publisher, sealed)
      expect(seals.length).toBeGreaterThan(100)
      expect(await sealsUpTo(restorer, sealed)).toEqual(seals)
      for (const variables of [publisher, restorer]) await execute(variables, 'verify', '--seals')
    },
    LONGEST,
  )

  /** Runs a restore in a container and returns its output. */
  function restore(name: string): Promise<string> {
    const words = `docker compose run --rm --no-deps --no-TTY --name ${name} filler restore ${server.url}/ --jobs 2`
    return run(restorer, 'sh', '-c', `${words} 2>&1`)
  }

  /** Kills the container of a restore after half of the files. The server withholds the other half until the kill. */
  async function killHalfway(): Promise<void> {
    const gate = new EventEmitter()
    const held = once(gate, 'held')
    const released = once(gate, 'released')
    const files = (await readdir(join(folder, 'files'), { recursive: true })).filter((name) =>
      name.includes('.copy.'),
    )
    let asked = 0
    server.fault = async (path, bytes) => {
      if (path.startsWith('files/') && ++asked > files.length / 2) {
        gate.emit('held')
        await released
      }
      return { bytes }
    }
    const name = `${PROJECT}-killed`
    const killed = restore(name).then(
      () => 'restored',
      () => 'killed',
    )
    await held
    await run(restorer, 'docker', 'kill', '--signal', 'KILL', name)
    expect(await killed).toBe('killed')
    server.fault = asIs
    gate.emit('released')
  }
})
