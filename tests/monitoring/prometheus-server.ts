import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { z } from 'zod'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { patient } from '../setup/patience.ts'

const SCRAPE_SECONDS = 2
const START_MS = patient(30_000)

const results = z.object({ data: z.object({ result: z.array(z.unknown()) }) })
const active = z.object({
  data: z.object({
    alerts: z.array(z.object({ labels: z.record(z.string(), z.string()), state: z.string() })),
  }),
})

/** A Prometheus process that a test started. */
export interface Prometheus {
  /** Number of series that a PromQL expression returns at present. */
  count(expr: string): Promise<number>
  /** Names of the firing alerts. */
  firing(): Promise<ReadonlySet<string>>
  stop(): Promise<void>
}

/** Starts Prometheus. `stop` deletes its data. @param targets addresses to scrape, by job. */
export async function startPrometheus(
  rules: string,
  targets: Readonly<Record<string, string>>,
): Promise<Prometheus> {
  const dir = await mkdtemp(join(tmpdir(), 'pronghorn-prometheus-'))
  const interval = `${SCRAPE_SECONDS}s`
  const configuration = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: '1s' },
    rule_files: [join(dir, 'rules.yml')],
    scrape_configs: Object.entries(targets).map(([job, address]) => ({
      job_name: job,
      static_configs: [{ targets: [address] }],
    })),
  }
  await writeFile(join(dir, 'rules.yml'), rules)
  await writeFile(join(dir, 'prometheus.yml'), stringify(configuration))
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const words = ['--config.file', join(dir, 'prometheus.yml'), '--storage.tsdb.path', join(dir, 'data')]
  const child = spawn('prometheus', [...words, '--web.listen-address', `127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-10_000)))
  const ended = once(child, 'close')
  const deadline = performance.now() + START_MS
  while (
    !(await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`no Prometheus: ${said}`)
    await sleep(100)
  }
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(url + path)
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response.json()
  }
  return {
    async count(expr) {
      return results.parse(await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)).data.result.length
    },
    async firing() {
      const { alerts } = active.parse(await ask('/api/v1/alerts')).data
      return new Set(
        alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname ?? ''),
      )
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}
