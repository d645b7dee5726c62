import type { Context } from 'koa'
import { shape } from '../endpoint/index.ts'
import type { RootRoute, RouteDocumentation } from '../http/index.ts'
import { sendJson } from '../../core/http/index.ts'
import { successBody } from '../http/index.ts'
import { healthRecord } from './health-schemas.ts'
import type { Monitor } from './monitor.ts'
import type { HealthReport, HealthSettings } from './report.ts'
import { isAnswered, MAX_LAG_BLOCKS, reportHealth } from './report.ts'

/** `/alive` fails if the chain head is at least this old, ms. */
const ALIVE_HEAD_MS = 30_000
const TEXT_TYPE = 'text/html; charset=utf-8'

/** Path prefix of the replaced system. Existing monitoring requests the same routes below this prefix. */
const OLD_PREFIX = '/eosio-contract-api'

const docs = {
  health: {
    summary: 'Health of the server, and the position of each reader',
    record: healthRecord,
    failures: [
      {
        status: 503,
        message:
          'The status is `unhealthy`: a load balancer should use another server. The body has the form of the answer with status 200',
      },
    ],
  },
  alive: {
    summary: 'For probes: `success:` followed by the chain id if there is no problem',
    failures: [{ status: 500, message: 'The first problem, as text' }],
  },
  healthc: {
    summary: 'For probes: `success` if the database and the key-value store answer',
    failures: [{ status: 500, message: '`error`' }],
  },
  timestamp: {
    summary: 'Time on the server',
    record: shape.integer('Milliseconds since 1970'),
  },
} as const satisfies Record<string, RouteDocumentation>

/** Routes `/health`, `/alive`, `/healthc` and `/timestamp`. */
export function healthRoutes(monitor: Monitor, settings: HealthSettings): RootRoute[] {
  const report = (): HealthReport => reportHealth(monitor.state, settings, Date.now())
  const route = (
    path: string,
    documentation: RouteDocumentation,
    answer: RootRoute['answer'],
  ): RootRoute => ({
    paths: [path, OLD_PREFIX + path],
    documentation,
    answer,
  })
  return [
    route('/health', docs.health, (context) => {
      const { status, data } = report()
      sendJson(context, status === 'unhealthy' ? 503 : 200, successBody(JSON.stringify(data), Date.now()))
    }),
    route('/alive', docs.alive, (context) => {
      const problem = aliveProblem(monitor, report())
      sendText(context, problem === undefined ? 200 : 500, problem ?? `success:${monitor.state.chainId}`)
    }),
    route('/healthc', docs.healthc, async (context) => {
      const works = await monitor.isWorking()
      sendText(context, works ? 200 : 500, works ? 'success' : 'error')
    }),
    route('/timestamp', docs.timestamp, (context) => {
      const nowMs = Date.now()
      sendJson(context, 200, successBody(String(nowMs), nowMs))
    }),
  ]
}

/**
 * Finds the first reason to take the server out of rotation. The texts equal the texts of the replaced system, because
 * existing probes compare them.
 */
function aliveProblem(monitor: Monitor, report: HealthReport): string | undefined {
  if (report.headAgeMs !== null && report.headAgeMs >= ALIVE_HEAD_MS) {
    return `chain api behind for ${report.headAgeMs / 1_000} seconds`
  }
  if (monitor.state.kvstore === 'unavailable') return 'redis state: ERROR'
  if (!isAnswered(monitor.state)) return 'postgres state: ERROR'
  if (monitor.state.readers.length === 0) return 'postgres state: INVALID'
  if (report.lagBlocks >= MAX_LAG_BLOCKS) return `reader behind for ${report.lagBlocks} blocks`
  return undefined
}

function sendText(context: Context, status: number, text: string): void {
  context.status = status
  context.set('Content-Type', TEXT_TYPE)
  context.body = text
}
