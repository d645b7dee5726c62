import { parse, stringify } from 'yaml'
import type { AppConfig, ConfigWarning } from '../../core/config/index.ts'
import { configFiles } from '../../core/config/index.ts'
import { STATE_METRICS_PORT } from './container-variables.ts'
import type { RenderedFile } from './libpq.ts'
import type { Resolved } from './resolved.ts'
import { fillTemplate } from './template.ts'

/** Port of the metrics of each service; 0 if the service serves none. */
interface MetricsPorts {
  readonly filler: number
  readonly api: number
  readonly state: number
}

/** The ports at which the services serve their metrics. */
export function listMetricsPorts({ given }: Resolved, { readers, server }: AppConfig): MetricsPorts {
  return {
    filler: readers[0]!.server_port,
    api: server.metrics_port ?? 0,
    state: Number(given.STATE_METRICS_PORT ?? STATE_METRICS_PORT),
  }
}

/** The configuration of Prometheus, with a job for each service that serves metrics. */
export function renderPrometheus({ filler, api, state }: MetricsPorts): RenderedFile {
  const text = fillTemplate('prometheus.yml', { FILLER_PORT: filler, API_PORT: api, STATE_PORT: state })
  const silent = Object.entries({ filler, api, state }).flatMap(([job, port]) => (port === 0 ? [job] : []))
  const content = parse(text) as { scrape_configs: { job_name: string }[] }
  const scrape_configs = content.scrape_configs.filter(({ job_name }) => !silent.includes(job_name))
  return {
    service: 'prometheus',
    name: 'prometheus.yml',
    text: silent.length === 0 ? text : stringify({ ...content, scrape_configs }),
    mode: 0o444,
  }
}

/** Warnings about services that the monitoring profile cannot watch. */
export function warnUnwatched({ profiles }: Resolved, { api, state }: MetricsPorts): ConfigWarning[] {
  if (!profiles.includes('monitoring')) return []
  const why = (service: string) =>
    `Prometheus does not watch the ${service}, which serves no metrics; alerts about the ${service} do not fire`
  return [
    ...(api === 0 ? [{ file: configFiles.server, path: 'metrics_port', message: why('api') }] : []),
    ...(state === 0
      ? [{ file: 'environment', path: 'STATE_METRICS_PORT', message: why('state service') }]
      : []),
  ]
}
