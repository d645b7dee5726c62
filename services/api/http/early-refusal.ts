import type { RequestListener } from 'node:http'
import { observeRequest } from '../../core/http/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import { refuse } from './early-answers.ts'
import type { EarlyParts } from './early-answers.ts'
import { spelledAddress } from './endpoint-answers.ts'
import { busyFailure } from './failure.ts'
import { longRoutes, normalPath } from './routes.ts'
import type { Mount } from './routes.ts'

export interface EarlyRefusalParts extends EarlyParts {
  readonly database: RequestDatabase
  readonly mounts: readonly Mount[]
}

/**
 * Refuses list requests of a client before the request lifecycle, while the queue for database connections is full and
 * the client has the most waiting requests. The queue would refuse these requests anyway. The lifecycle takes several
 * times as long for a refusal, which slows down the answers to other clients: with three times the rate that the API
 * can serve, of which one client sends 80 %, the p95 of the other clients was 54 ms instead of 130 ms, and 21 ms without
 * the one client (two processors, 2026-11-30, `bench/sustained`).
 */
export function refuseEarly(parts: EarlyRefusalParts, lifecycle: RequestListener): RequestListener {
  const routes = longRoutes(parts.mounts)
  return (req, res) => {
    const startedMs = performance.now()
    const address = spelledAddress(req)
    const found = address === undefined ? undefined : routes.get(normalPath(pathOf(address)))
    if (!found || !parts.database.turnsAway(parts.clientOf({ req }).key)) {
      lifecycle(req, res)
      return
    }
    const sent = { bytes: 0 }
    for (const observer of parts.observers)
      observeRequest(observer, { req, res }, () => ({ ...found, cache: 'bypass', ...sent }), startedMs)
    sent.bytes = refuse(parts, { req, res }, busyFailure)
  }
}

function pathOf(address: string): string {
  const end = address.indexOf('?')
  return end < 0 ? address : address.slice(0, end)
}
