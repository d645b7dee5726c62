import type { RequestObserver } from '../../core/http/index.ts'
import type { Metrics } from '../../core/metrics/index.ts'
import type { DatabaseObserver } from '../database/index.ts'
import type { ListLookup } from '../named-lists/named-lists.ts'

/**
 * HTTP methods with a label value of their own. All others share one label value, because clients can send any text as
 * method.
 */
const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])
/** Values of the metric labels of a request without a namespace or route. */
const NO_NAMESPACE = 'none'
const UNMATCHED = 'unmatched'

/** Counts requests, for the metrics. */
export function observeRequests(metrics: Metrics): RequestObserver {
  let inFlight = 0
  metrics.beforeSnapshot(() => {
    metrics.set('pronghorn_http_requests_in_flight', {}, inFlight)
  })
  return {
    requestStarted() {
      inFlight++
    },
    requestEnded(facts) {
      inFlight--
      const { namespace = NO_NAMESPACE, route = UNMATCHED, bytes, cache: outcome } = facts
      const status = `${Math.floor(facts.status / 100)}xx`
      const method = methods.has(facts.method) ? facts.method : 'other'
      const seconds = facts.durationMs / 1_000
      metrics.count('pronghorn_http_requests_total', { namespace, route, status, method })
      metrics.observe('pronghorn_http_request_duration_seconds', { namespace, route, status }, seconds)
      if (bytes > 0) metrics.count('pronghorn_http_response_bytes_total', { namespace, route }, bytes)
      metrics.count('pronghorn_http_cache_answers_total', { namespace, route, outcome })
    },
  }
}

/** Counts the statements, waits for connections and refusals of requests, for the metrics. */
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

/** Counts lookups of named lists, for the metrics. */
export function observeLists(metrics: Metrics): (lookup: ListLookup) => void {
  return (outcome) => {
    metrics.count('pronghorn_list_lookups_total', { outcome })
  }
}
