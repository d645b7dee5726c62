import type { LRUCache } from 'lru-cache'
import type { ApiKey } from '../access/index.ts'
import type { AbiStore, PositionWatch, StateDatabase } from '../chain/index.ts'
import type { Misfit } from '../misfits.ts'
import type { EndpointBase, Parameters, Schema, Values } from '../../core/endpoint/index.ts'

/** What endpoints answer from. */
export interface StateParts {
  readonly database: StateDatabase
  readonly positions: PositionWatch
  readonly abis: AbiStore
  /** Takes a stored row that no ABI of its contract fits. */
  readonly noteMisfit: (misfit: Misfit) => void
  /** Bodies of ABI answers. */
  readonly bodies: LRUCache<string, Buffer>
  /** Most bytes of an answer. */
  readonly maxAnswerBytes: number
  /** Exchanges an API key for a token. @throws Refusal. */
  readonly issue: (key: string) => Promise<{ readonly token: string; readonly expiresAt: number }>
}

/** Dependencies of the answer to one request. */
export interface RequestParts extends StateParts {
  /** Takes bytes of answers until this one has been sent. @throws RequestError 503. */
  readonly hold: (bytes: number) => Promise<void>
}

/** What is known of a key before it is counted. */
export type IssuingKey = Pick<ApiKey, 'id' | 'tokensPerMinute'>

/** Where the parameters of an endpoint may be given other than in the query. */
export type BodyKind = 'none' | 'json' | 'any'

/** An endpoint as data: routing, validation and documentation are generated from it. */
export interface Endpoint<P extends Parameters = Parameters> extends EndpointBase<P> {
  readonly methods: readonly ('GET' | 'POST')[]
  readonly description?: string
  readonly tag: 'Authentication' | 'ABIs' | 'Rows' | 'Permissions' | 'Blocks'
  /** Whether a token is needed. */
  readonly needsToken: boolean
  /** `json`: a body that must be JSON, whatever the content type. `any`: a form or JSON, where there is one. */
  readonly body: BodyKind
  /** JSON Schema of the answer. */
  readonly answer: Schema
  /** Codes of refusals that only some endpoints have. */
  readonly refusals: readonly string[]
  /** @throws Refusal. @returns JSON text, or what is written as such. */
  run(values: Values<P>, parts: RequestParts): Promise<string | Buffer | Readonly<Record<string, unknown>>>
}

/** Declares an endpoint. */
export function endpoint<P extends Parameters>(declared: Endpoint<P>): Endpoint {
  return declared
}
