import { setTimeout as sleep } from 'node:timers/promises'
import { DockerComposeEnvironment, Wait } from 'testcontainers'
import type { StartedDockerComposeEnvironment } from 'testcontainers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { smokeTest } from '../../services/appliance/index.ts'
import type { CheckResult } from '../../services/appliance/smoke/check.ts'
import { createClient } from '../../services/appliance/smoke/client.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless } from '../setup/available.ts'
import { applianceVariables, composeFiles, run, whyNoEngine } from './engine.ts'
import { stallBodies } from './stalled-bodies.ts'

const PROJECT = 'pronghorn-suite'
const ports = { http: 18_080, https: 18_443 }
const variables = applianceVariables(PROJECT, ports)
const url = `https://localhost:${ports.https}`
const ask = createClient(new URL(url), true)
const oneShots = ['config', 'migrate']
const LONGEST = 480_000
const STALLED_BODIES = 100
/** Total size of the stalled request bodies. */
const MAX_PROXY_BYTES = 100 * 1_000_000

const health = z.object({
  data: z.object({
    chain: z.object({ demo: z.boolean().optional() }),
    postgres: z.object({ readers: z.array(z.object({ block_num: z.string() })) }),
  }),
})

const inspected = z.array(
  z.object({
    Name: z.string(),
    Config: z.object({ User: z.string(), Env: z.array(z.string()) }),
    HostConfig: z.object({
      ReadonlyRootfs: z.boolean(),
      CapDrop: z.array(z.string()),
      SecurityOpt: z.array(z.string()),
      Memory: z.number(),
      PidsLimit: z.number(),
      CpuShares: z.number(),
      LogConfig: z.object({ Config: z.record(z.string(), z.string()) }),
      PortBindings: z.record(z.string(), z.unknown()).nullable(),
    }),
  }),
)

describeUnless(whyNoEngine(), 'the appliance in containers', () => {
  let environment: StartedDockerComposeEnvironment | undefined

  const up = async (): Promise<StartedDockerComposeEnvironment> => {
    // Disable Testcontainers' reaper (Ryuk), which needs its own image. This suite removes its containers itself.
    process.env.TESTCONTAINERS_RYUK_DISABLED = 'true'
    const compose = new DockerComposeEnvironment(packageRoot, composeFiles)
      .withProjectName(PROJECT)
      .withEnvironment(variables)
      .withBuild()
      .withAutoCleanup(false)
      .withStartupTimeout(LONGEST)
      .withDefaultWaitStrategy(Wait.forHealthCheck())
    for (const name of oneShots) compose.withWaitStrategy(`${name}-1`, Wait.forOneShotStartup())
    return compose.up()
  }

  const readBlock = async (): Promise<{ block: number; demo: boolean }> => {
    const { text } = await ask('/health')
    const { chain, postgres } = health.parse(JSON.parse(text)).data
    return { block: Number(postgres.readers[0]!.block_num), demo: chain.demo ?? false }
  }

  beforeAll(async () => {
    await run(variables, 'docker', 'compose', '--profile', '*', 'down', '--volumes')
    environment = await up()
  }, LONGEST)

  afterAll(async () => {
    await run(variables, 'docker', 'compose', '--profile', '*', 'down', '--volumes')
  }, LONGEST)

  it('the appliance in containers passes its smoke test', async () => {
    const results: CheckResult[] = []
    const words = ['keys', 'create', '--label', 'smoke test'] as const
    const made = await run(variables, 'docker', 'compose', 'run', '--rm', '--no-TTY', 'state', ...words)
    const apiKey = /\bserver_\w+/.exec(made)?.[0]
    expect(apiKey).toBeDefined()
    await smokeTest({
      url,
      insecure: true,
      apiKey,
      account: 'atomicassets',
      waitMs: 30_000,
      report: (result) => results.push(result),
    })
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(results.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(10)
  })

  it('the appliance in containers publishes only the ports of the proxy, and restricts every container', async () => {
    const ids = (await run(variables, 'docker', 'compose', 'ps', '--all', '--quiet')).trim().split('\n')
    const containers = inspected.parse(JSON.parse(await run(variables, 'docker', 'inspect', ...ids)))
    expect(containers.length).toBeGreaterThanOrEqual(8)
    for (const { Name, Config, HostConfig } of containers) {
      const published = Object.keys(HostConfig.PortBindings ?? {}).length
      expect([Name, published > 0]).toEqual([Name, Name.includes('-nginx-')])
      expect([Name, Number.parseInt(Config.User, 10) > 0]).toEqual([Name, true])
      expect([Name, HostConfig.ReadonlyRootfs, HostConfig.CapDrop]).toEqual([Name, true, ['ALL']])
      expect(HostConfig.SecurityOpt).toContain('no-new-privileges:true')
      expect([Name, HostConfig.Memory > 0, HostConfig.PidsLimit > 0]).toEqual([Name, true, true])
      expect([Name, HostConfig.CpuShares > 0]).toEqual([Name, true])
      expect(HostConfig.LogConfig.Config['max-size']).toBe('10m')
      // Secrets are files in volumes. `docker inspect` would show environment variables.
      expect(Config.Env.filter((line) => /(?:PASSWORD|SECRET|KEY)=./.test(line))).toEqual([])
    }
  })

  it('the image of the appliance contains no secret', async () => {
    const secrets = await run(
      variables,
      ...['docker', 'compose', 'run', '--rm', '--no-TTY', '--entrypoint', 'sh', 'config'],
      ...['-c', 'cat /rendered/secrets/*'],
    )
    const history = await run(variables, 'docker', 'history', '--no-trunc', 'pronghorn:1.0.0')
    const found = await run(
      variables,
      ...['docker', 'run', '--rm', '--entrypoint', 'sh', 'pronghorn:1.0.0', '-c'],
      'find / -xdev \\( -name .env -o -name "*.pem" -o -name "id_rsa*" -o -name .npmrc -o -name .git \\) -not -path "/etc/ssl/*" -not -path "/usr/*" -not -path "*/node_modules/*" 2>/dev/null; find /rendered /data -type f',
    )
    expect(secrets.length).toBeGreaterThan(200)
    expect(history).not.toContain(secrets.slice(0, 43))
    expect(found.trim()).toBe('')
  })

  it('the image of the appliance contains no sources, tests or development packages', async () => {
    const rest = await run(
      variables,
      ...['docker', 'run', '--rm', '--entrypoint', 'sh', 'pronghorn:1.0.0', '-c'],
      'ls -d /pronghorn/dist/scripts /pronghorn/node_modules/@types /pronghorn/node_modules/vitest 2>/dev/null; find /pronghorn -name "*.ts" -o -name "*.test.js" -o -path "*/node_modules/*/test" -o -path "*/node_modules/*.map"',
    )
    expect(rest.trim()).toBe('')
  })

  it('the appliance in containers redirects plain HTTP to HTTPS', async () => {
    const plain = createClient(new URL(`http://localhost:${ports.http}`), false)
    const { status, headers } = await plain('/health?x=1')
    expect([status, headers.location]).toEqual([308, `${url}/health?x=1`])
  })

  it('stalled request bodies do not fill the disk or the memory of the proxy', async () => {
    const sockets = await stallBodies(ports.https, STALLED_BODIES)
    await sleep(2_000)
    const inProxy = (...words: string[]): Promise<string> =>
      run(variables, 'docker', 'compose', 'exec', '--no-TTY', 'nginx', ...words)
    const files = await inProxy('du', '-sk', '/tmp')
    const memory = await inProxy(
      'sh',
      '-c',
      'cat /sys/fs/cgroup/memory.current || cat /sys/fs/cgroup/memory/memory.usage_in_bytes',
    )
    expect(Number.parseInt(files)).toBeLessThan(1_024)
    expect(Number(memory)).toBeLessThan(MAX_PROXY_BYTES)
    expect((await ask('/atomicassets/v1/assets?limit=2')).status).toBe(200)
    for (const socket of sockets) socket.destroy()
  })

  it('the appliance in containers continues at the same block after docker compose down and up', async () => {
    const before = await readBlock()
    expect(before.demo).toBe(true)
    await environment!.down({ removeVolumes: false })
    environment = await up()
    const after = await readBlock()
    expect(after.block).toBeGreaterThanOrEqual(before.block)
    const logs = await run(variables, 'docker', 'compose', 'logs', '--no-log-prefix', 'filler')
    const first = logs.split('\n').find((line) => line.includes('"msg":"reading blocks"'))
    const { start } = JSON.parse(first?.slice(first.indexOf('{')) ?? '{}') as { start?: number }
    expect(start).toBeGreaterThanOrEqual(before.block)
  })

  it('docker compose accepts the compose files with no profile, with single profiles and with several profiles', async () => {
    for (const profiles of [
      '',
      'graphql',
      'devchain',
      'tools',
      'monitoring',
      'graphql,devchain,tools,monitoring',
    ]) {
      for (const files of ['docker-compose.yml', composeFiles.join(':')]) {
        const words = ['docker', 'compose', 'config', '--quiet'] as const
        await run({ ...variables, COMPOSE_PROFILES: profiles, COMPOSE_FILE: files }, ...words)
      }
    }
  })
})
