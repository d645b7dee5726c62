import { createLogger } from '../log/index.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'
import { mergeCounts, renderSnapshots } from './snapshots.ts'
import { metricCatalogue } from './catalogue.ts'
import { serveMetrics } from './listener.ts'
import type { MetricsListener } from './listener.ts'

const quiet = createLogger({ name: 'test', level: 'silent' })
const route = { namespace: 'assets', route: '/v1/assets' }

describe('metrics', () => {
  it('metrics of several processes are merged: counters are summed, gauges are combined as the catalogue says', async () => {
    const processes = [1, 2].map((each) => {
      const metrics = createMetrics('api', { ofProcess: false })
      metrics.count('pronghorn_http_requests_total', { ...route, method: 'GET', status: '2xx' }, each)
      metrics.observe('pronghorn_http_request_duration_seconds', { ...route, status: '2xx' }, each / 100)
      metrics.set('pronghorn_http_requests_in_flight', {}, each)
      metrics.set('pronghorn_health', {}, each)
      metrics.set('pronghorn_database_up', { server: 'primary' }, each - 1)
      return metrics
    })
    const text = await renderSnapshots(await Promise.all(processes.map((each) => each.snapshot())))
    for (const line of [
      'pronghorn_http_requests_total{namespace="assets",route="/v1/assets",method="GET",status="2xx"} 3',
      'pronghorn_http_request_duration_seconds_bucket{le="0.01",namespace="assets",route="/v1/assets",status="2xx"} 1',
      'pronghorn_http_request_duration_seconds_bucket{le="+Inf",namespace="assets",route="/v1/assets",status="2xx"} 2',
      'pronghorn_http_request_duration_seconds_sum{namespace="assets",route="/v1/assets",status="2xx"} 0.03',
      'pronghorn_http_requests_in_flight 3',
      'pronghorn_health 2',
      'pronghorn_database_up{server="primary"} 0',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
  })

  it('a gauge that one process never sets does not lower the minimum over all processes', async () => {
    const [main, thread] = [createMetrics('filler'), createMetrics('filler', { ofProcess: false })]
    main.set('pronghorn_kvstore_up', {}, 1)
    const text = await renderSnapshots([await main.snapshot(), await thread.snapshot()])
    expect(text.split('\n')).toContain('pronghorn_kvstore_up 1')
    main.set('pronghorn_kvstore_up', {}, 0)
    expect(await renderSnapshots([await main.snapshot(), await thread.snapshot()])).toContain(
      'pronghorn_kvstore_up 0',
    )
  })

  it('merged metrics include the counters of an exited process, but not its gauges', async () => {
    const ended = createMetrics('api')
    ended.count('pronghorn_worker_restarts_total', {}, 4)
    ended.set('pronghorn_http_requests_in_flight', {}, 7)
    const running = createMetrics('api')
    running.count('pronghorn_worker_restarts_total', {}, 1)
    const carried = await mergeCounts([await ended.snapshot()])
    const again = await mergeCounts([carried, carried])
    const text = await renderSnapshots([again, await running.snapshot()])
    expect(text).toMatch(/^pronghorn_worker_restarts_total 9$/m)
    expect(text).toMatch(/^pronghorn_http_requests_in_flight 0$/m)
  })

  it('a counter follows a total that another component counts, also after the total restarts at zero', async () => {
    const metrics = createMetrics('filler', { ofProcess: false })
    for (const total of [5, 9, 2]) {
      metrics.countTo('pronghorn_reader_operations_total', { reader: 'a' }, total)
    }
    expect(await renderSnapshots([await metrics.snapshot()])).toMatch(
      /^pronghorn_reader_operations_total\{reader="a"\} 11$/m,
    )
  })

  it('a program serves exactly the metrics that the catalogue lists for it, and the metrics of Node.js', async () => {
    const text = await renderSnapshots([await createMetrics('filler').snapshot()])
    expect(text).toMatch(/^process_cpu_seconds_total \d/m)
    expect(text).toMatch(/^pronghorn_build_info\{version="[^"]+"\} 1$/m)
    for (const [name, entry] of Object.entries(metricCatalogue)) {
      const programs: readonly string[] = entry.programs
      expect([name, text.includes(`# HELP ${name} `)]).toEqual([name, programs.includes('filler')])
    }
  })
})

describe('the metrics listener', () => {
  let listener: MetricsListener
  afterEach(() => listener.close())

  it('the metrics listener serves one path, collects once for concurrent requests, and answers 500 if collecting fails', async () => {
    let calls = 0
    const render = async () => {
      calls++
      await new Promise((resolve) => setTimeout(resolve, 50))
      if (calls === 2) throw new Error('broken')
      return 'a 1\n'
    }
    listener = await serveMetrics({ address: '127.0.0.1', port: 0, render, logger: quiet })
    const url = `http://127.0.0.1:${listener.port}/metrics`
    const answers = await Promise.all([fetch(url), fetch(url), fetch(`${url}?x=1`)])
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['a 1\n', 'a 1\n', 'a 1\n'])
    expect(answers[0].headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(calls).toBe(1)
    expect((await fetch(url)).status).toBe(500)
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    expect((await fetch(new URL('/', url))).status).toBe(404)
  })

  it('the error of the metrics listener names a port that is already in use', async () => {
    listener = await serveMetrics({
      address: '127.0.0.1',
      port: 0,
      render: () => Promise.resolve(''),
      logger: quiet,
    })
    const { port } = listener
    await expect(
      serveMetrics({ address: '127.0.0.1', port, render: () => Promise.resolve(''), logger: quiet }),
    ).rejects.toMatchObject({
      code: 'PORT_UNAVAILABLE',
      message: expect.stringContaining(String(port)) as string,
    })
  })
})
