import type { RequestObserver } from '../../core/http/index.ts'
import type { Metrics } from '../../core/metrics/index.ts'
import type { DatabaseObserver } from '../database/index.ts'
import type { ListLookup } from '../named-lists/index.ts'

/** Methods that have their own label; clients can send others. */
const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])
/** Label for a missing namespace or route. */
const NO_NAMESPACE = 'none'
const UNMATCHED = 'unmatched'

/** Counts requests. */
export function observeRequests(metrics: Metrics): RequestObserver {
  let inFlight = 0
  metrics.beforeSnapshot(() => {
    metrics.set('pronghorn_http_requests_in_flight', {}, inFlight)
  })
  return {
    requestStarted() {
      inFlight++
    },
    requestEnded({ namespace = NO_NAMESPACE, route = UNMATCHED, method, status, ...facts }) {
      inFlight--
      const labels = { namespace, route }
      const answer = { ...labels, status: `${Math.floor(status / 100)}xx` }
      metrics.count('pronghorn_http_requests_total', {
        ...answer,
        method: methods.has(method) ? method : 'other',
      })
      metrics.observe('pronghorn_http_request_duration_seconds', answer, facts.durationMs / 1_000)
      if (facts.bytes > 0) metrics.count('pronghorn_http_response_bytes_total', labels, facts.bytes)
      metrics.count('pronghorn_http_cache_answers_total', { ...labels, outcome: facts.cache })
    },
  }
}

/** Counts what requests do with the database. */
export function observeDatabase(metrics: Metrics): DatabaseObserver {
  for (const reason of ['busy', 'unavailable'])
    metrics.count('pronghorn_database_refused_total', { reason }, 0)
  return {
    queryEnded({ query, server, durationMs, problem }) {
      metrics.observe('pronghorn_database_query_duration_seconds', { query, server }, durationMs / 1_000)
      if (problem) metrics.count('pronghorn_database_query_errors_total', { query, server, kind: problem })
    },
    connected(server, waitMs) {
      metrics.observe('pronghorn_database_connection_wait_seconds', { server }, waitMs / 1_000)
    },
    refused(reason) {
      metrics.count('pronghorn_database_refused_total', { reason })
    },
    wentOver(server) {
      metrics.count('pronghorn_replica_changes_total', { server })
    },
  }
}

/** Counts lookups of named lists. */
export function observeLists(metrics: Metrics): (lookup: ListLookup) => void {
  return (outcome) => {
    metrics.count('pronghorn_list_lookups_total', { outcome })
  }
}
