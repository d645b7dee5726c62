import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listAlerts } from '../../scripts/monitoring/alerts.ts'
import type { AlertLimits } from '../../scripts/monitoring/alerts.ts'
import { dashboards } from '../../scripts/monitoring/dashboards.ts'
import { renderRules } from '../../scripts/monitoring/render.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { patient } from '../setup/patience.ts'
import { startPrometheus } from './prometheus-server.ts'
import type { Prometheus } from './prometheus-server.ts'
import { Stage } from './stage.ts'

/** Limits of the alert rules, shortened for the test. */
const limits: AlertLimits = {
  commitSeconds: 5,
  behindBlocks: 8,
  errorShare: 0.01,
  certificateDays: 14,
  diskDays: 14,
  backupDays: 7,
  soon: '0s',
  later: '0s',
  window: '10s',
  lagWindow: '8s',
  diskWindow: '10s',
}
/** Value for Grafana's variable `$__rate_interval`. */
const RATE_INTERVAL = '15s'
const EACH_MS = patient(60_000)

const missing = ['prometheus', 'redis-server'].filter((name) => findProgram(name) === undefined)
const reason = missing.length === 0 ? undefined : `there is no ${missing.join(', ')} on the PATH`

describeUnless(reason, 'the demo chain, watched by Prometheus', () => {
  const stage = new Stage()
  let prometheus: Prometheus | undefined

  beforeAll(async () => {
    await stage.start()
    prometheus = await startPrometheus(renderRules(limits), stage.targets())
  }, patient(120_000))

  afterAll(async () => {
    await prometheus?.stop()
    await stage.stop()
  }, patient(60_000))

  /** Waits until `find` returns an empty list. @throws Error with the remaining entries after EACH_MS. */
  async function untilNone(what: string, find: () => Promise<readonly string[]>): Promise<void> {
    const deadline = performance.now() + EACH_MS
    for (;;) {
      const left = await find()
      if (left.length === 0) return
      if (performance.now() > deadline) throw new Error(`${what}: ${left.join('\n')}\n${stage.said()}`)
      await sleep(500)
    }
  }

  it(
    'every query of every panel returns series',
    async () => {
      const queries = dashboards.flatMap(({ name, panels }) =>
        panels.flatMap((panel) =>
          panel.queries.map(({ expr }) => ({ panel: `${name}: ${panel.title}`, expr })),
        ),
      )
      let left = queries
      await untilNone('queries without series', async () => {
        const counts = await Promise.all(
          left.map(({ expr }) => prometheus!.count(expr.replaceAll('$__rate_interval', RATE_INTERVAL))),
        )
        left = left.filter((_, place) => counts[place] === 0)
        return left.map(({ panel, expr }) => `${panel}: ${expr}`)
      })
      expect(queries.length).toBeGreaterThan(60)
    },
    patient(90_000),
  )

  it(
    'every alert fires while its fault lasts, and ends after the fault',
    async () => {
      const names = listAlerts(limits).map(({ name }) => name)
      // The certificate of the test expires soon, so CertificateEnds fires from the start.
      await untilNone('alerts without a fault', async () => {
        const before = await prometheus!.firing()
        return names.filter((name) => before.has(name) && name !== 'CertificateEnds')
      })
      stage.isDiskFilling = true
      stage.cutReplica()
      await stage.lockTable()
      await stage.redis.refuseWrites('READONLY')
      await stage.stopService('state')
      await stage.sql(
        `SELECT chain.note_task('backup-check', 'the digests differ'), chain.note_task('verify', '1 row differs')`,
      )
      await stage.sql(`UPDATE chain.tasks SET succeeded_at = now() - interval '3 days' WHERE task = 'backup'`)
      const fired = new Set<string>()
      await untilNone('alerts that did not fire', async () => {
        for (const name of await prometheus!.firing()) fired.add(name)
        return names.filter((name) => !fired.has(name))
      })

      stage.isDiskFilling = false
      stage.joinReplica()
      await stage.unlockTable()
      await stage.redis.takeWrites()
      stage.startService('state')
      await stage.sql(
        `SELECT chain.note_task('backup', NULL), chain.note_task('backup-check', NULL), chain.note_task('verify', NULL)`,
      )
      await stage.renewCertificate()
      // The api reads the certificate at its start and then once a minute; a restart reads the new one at once.
      await stage.stopService('api')
      stage.startService('api')
      const ended = new Set<string>()
      await untilNone('alerts that did not end', async () => {
        const firing = await prometheus!.firing()
        for (const name of names) if (!firing.has(name)) ended.add(name)
        return names.filter((name) => !ended.has(name))
      })
    },
    patient(150_000),
  )
})
