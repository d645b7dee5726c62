import type { LRUCache } from 'lru-cache'
import type { AbiStore, PositionWatch, StateDatabase } from '../chain/index.ts'
import type { Misfit } from '../misfits.ts'
import type { EndpointBase, Parameters, Schema, Values } from '../../core/endpoint/index.ts'

/** Parts of the state service that all endpoints use. */
export interface StateParts {
  readonly database: StateDatabase
  readonly positions: PositionWatch
  readonly abis: AbiStore
  /** Counts a stored row that fits no ABI of its contract, and logs the first of each contract. */
  readonly noteMisfit: (misfit: Misfit) => void
  /** Cached bodies of ABI responses. */
  readonly bodies: LRUCache<string, Buffer>
  /** Maximum size of a response, bytes. */
  readonly maxAnswerBytes: number
  /** Exchanges an API key for a token. @throws Refusal. */
  readonly issue: (key: string) => Promise<{ readonly token: string; readonly expiresAt: number }>
}

/** Everything that an endpoint needs to answer one request. */
export interface RequestParts extends StateParts {
  /**
   * Reserves memory for the response until it has been sent.
   * @throws RequestError 503.
   */
  readonly hold: (bytes: number) => Promise<void>
}

/** Request bodies that an endpoint accepts for its parameters. */
export type BodyKind = 'none' | 'json' | 'any'

/** An endpoint as data: routing, validation and documentation derive from it. */
export interface Endpoint<P extends Parameters = Parameters> extends EndpointBase<P> {
  readonly methods: readonly ('GET' | 'POST')[]
  readonly description?: string
  readonly tag: 'Authentication' | 'ABIs' | 'Rows' | 'Permissions' | 'Blocks'
  /** Whether requests to the endpoint require a token. */
  readonly needsToken: boolean
  /** `json`: a body that must be JSON, whatever its content type. `any`: an optional body, form or JSON. */
  readonly body: BodyKind
  /** JSON Schema of the response. */
  readonly answer: Schema
  /** Codes of refusals that are specific to this endpoint. */
  readonly refusals: readonly string[]
  /**
   * Answers a request.
   * @throws Refusal.
   * @returns JSON text, or an object that is written as JSON.
   */
  run(values: Values<P>, parts: RequestParts): Promise<string | Buffer | Readonly<Record<string, unknown>>>
}

/** Declares an endpoint; checks the types of its parameters. */
export function endpoint<P extends Parameters>(declared: Endpoint<P>): Endpoint {
  return declared
}
