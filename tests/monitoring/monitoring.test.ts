import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { listAlerts, standardLimits } from '../../scripts/monitoring/alerts.ts'
import { dashboards } from '../../scripts/monitoring/dashboards.ts'
import { renderMonitoring } from '../../scripts/monitoring/monitoring.ts'
import { STATE_METRICS_PORT } from '../../services/appliance/render/container-variables.ts'
import { renderPrometheus } from '../../services/appliance/render/prometheus.ts'
import { render } from '../../services/appliance/render/render.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { placesIn, real } from '../appliance/rendering.ts'
import { describeWithPrometheus, promtool } from './promtool.ts'
import { ruleCases } from './rule-cases.ts'
import { findUnknown } from './series.ts'

const folder = join(packageRoot, 'infra/monitoring')
const alerts = listAlerts(standardLimits)
const read = (path: string): Promise<string> => readFile(join(packageRoot, path), 'utf8')

it('rules, dashboards and docs/alerts.md equal the output of their generator', async () => {
  const files = await renderMonitoring()
  expect(files.size).toBe(dashboards.length + 2)
  for (const [path, text] of files) expect([path, await read(path)]).toEqual([path, text])
})

it('every alert links to its section of the alerts page, and every section has an alert', async () => {
  const { groups } = parse(await read('infra/monitoring/rules.yml')) as {
    groups: { rules: { alert: string; annotations: { runbook: string } }[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  const page = await read('docs/alerts.md')
  const sections = page.split(/^## /m).slice(1)
  expect(sections.map((section) => section.split('\n')[0])).toEqual(rules.map(({ alert }) => alert))
  for (const { alert, annotations } of rules)
    expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`)
  for (const section of sections) expect(section).toContain('```sh\n')
})

it('every metric and label in dashboards and rules is exported by a service', async () => {
  const expressions = [
    ...alerts.map(({ name, expr }) => ({ name, expr })),
    ...dashboards.flatMap(({ panels }) =>
      panels.flatMap(({ title, queries }) => queries.map(({ expr }) => ({ name: title, expr }))),
    ),
  ]
  for (const { name, expr } of expressions)
    expect([name, await findUnknown(expr.replaceAll('$__rate_interval', '1m'))]).toEqual([name, []])
  expect(await findUnknown('sum by (nothing) (pronghorn_reader_blok{reader="a"})')).toEqual([
    'pronghorn_reader_blok',
    'by (nothing)',
  ])
})

/** Schema of Grafana's provisioning files, from the documentation of Grafana. */
const datasources = z.strictObject({
  apiVersion: z.literal(1),
  datasources: z.array(
    z.strictObject({
      name: z.string(),
      uid: z.string().max(40),
      type: z.literal('prometheus'),
      access: z.enum(['proxy', 'direct']),
      url: z.url(),
      isDefault: z.boolean(),
      editable: z.boolean(),
      jsonData: z.strictObject({ timeInterval: z.string() }),
    }),
  ),
})
const providers = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.array(
    z.strictObject({
      name: z.string(),
      type: z.literal('file'),
      disableDeletion: z.boolean(),
      allowUiUpdates: z.boolean(),
      options: z.strictObject({ path: z.string() }),
    }),
  ),
})

it('Grafana has one data source, and every panel of every dashboard uses it', async () => {
  const provisioning = 'infra/monitoring/grafana/provisioning'
  const [source] = datasources.parse(
    parse(await read(`${provisioning}/datasources/prometheus.yml`)),
  ).datasources
  providers.parse(parse(await read(`${provisioning}/dashboards/pronghorn.yml`)))
  for (const { name } of dashboards) {
    const { uid, panels } = JSON.parse(await read(`infra/monitoring/grafana/dashboards/${name}.json`)) as {
      uid: string
      panels: { id: number; datasource: unknown; targets: { datasource: unknown }[] }[]
    }
    expect(uid).toBe(`pronghorn-${name}`)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { datasource, targets } of panels)
      for (const used of [datasource, ...targets.map((target) => target.datasource)])
        expect(used).toEqual({ type: source?.type, uid: source?.uid })
  }
})

it('Prometheus scrapes the ports that the services listen on', async () => {
  const ports = { READER_SERVER_PORT: '9201', SERVER_METRICS_PORT: '9202', STATE_METRICS_PORT: '9203' }
  const out = await mkdtemp(join(tmpdir(), 'pronghorn-scraped-'))
  const places = placesIn(out, 'rendered')
  const scraped = async (environment: Readonly<Record<string, string>>) => {
    const { warnings } = await render({ ...real, ...environment }, places)
    const text = await readFile(join(places.out, 'prometheus/prometheus.yml'), 'utf8')
    const jobs = [...text.matchAll(/job_name: (\w+)|filler:(\d+)|port: (\d+)/g)].map(
      ([, job, filler, port]) => job ?? filler ?? port,
    )
    return { jobs, warnings: warnings.map(({ path }) => path) }
  }
  const shipped = ['filler', '9001', 'api', '9100', 'state', String(STATE_METRICS_PORT)]
  expect(await scraped({})).toEqual({ jobs: shipped, warnings: [] })
  expect((await scraped(ports)).jobs).toEqual(['filler', '9201', 'api', '9202', 'state', '9203'])
  const silent = { STATE_METRICS_PORT: '0' }
  expect(await scraped(silent)).toEqual({ jobs: shipped.slice(0, 4), warnings: [] })
  expect(await scraped({ ...silent, COMPOSE_PROFILES: 'monitoring' })).toEqual({
    jobs: shipped.slice(0, 4),
    warnings: ['STATE_METRICS_PORT'],
  })
  await rm(out, { recursive: true })
})

it('every alert has test series that fire it, and test series that do not', () => {
  expect(Object.keys(ruleCases)).toEqual(alerts.map(({ name }) => name))
})

describeWithPrometheus('the rules in promtool', () => {
  it('promtool accepts the rules and the configuration', async () => {
    expect(await promtool('check', 'rules', join(folder, 'rules.yml'))).toContain(
      `${alerts.length} rules found`,
    )
    const dir = await mkdtemp(join(tmpdir(), 'pronghorn-prometheus-'))
    for (const ports of [
      { filler: 9001, api: 9100, state: 9110 },
      { filler: 9001, api: 0, state: 0 },
    ]) {
      const { text } = renderPrometheus(ports)
      await writeFile(join(dir, 'prometheus.yml'), text.replace('/etc/prometheus', folder))
      expect(await promtool('check', 'config', join(dir, 'prometheus.yml'))).toContain('SUCCESS')
    }
    await rm(dir, { recursive: true })
  })

  it('promtool confirms that each alert fires with its fault, and that no alert fires without a fault', async () => {
    const tests = Object.entries(ruleCases).flatMap(([alert, { fires, quiet, interval = 15, at = '12m' }]) =>
      [fires, quiet].map((series) => ({
        name: `${alert} ${series === fires ? 'fires' : 'is quiet'}`,
        interval: `${interval}s`,
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          {
            expr: `count by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
            eval_time: at,
            exp_samples: series === fires ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
          },
        ],
      })),
    )
    const dir = await mkdtemp(join(tmpdir(), 'pronghorn-rules-'))
    const file = join(dir, 'tests.yml')
    const rules = join(folder, 'rules.yml')
    await writeFile(file, stringify({ rule_files: [rules], evaluation_interval: '15s', tests }))
    expect(await promtool('test', 'rules', file)).toContain('SUCCESS')
    await rm(dir, { recursive: true })
  })
})
