import type { LRUCache } from 'lru-cache'
import type { ApiKey } from '../access/index.ts'
import type { AbiStore, PositionWatch, StateDatabase } from '../chain/index.ts'
import type { Parameters, Schema, Values } from './parameter.ts'

/** What endpoints answer from. */
export interface StateParts {
  readonly database: StateDatabase
  readonly positions: PositionWatch
  readonly abis: AbiStore
  /** Bodies of ABI answers. */
  readonly bodies: LRUCache<string, Buffer>
  /** Exchanges an API key for a token. @throws Refusal. */
  readonly issue: (key: string) => Promise<{ readonly token: string; readonly expiresAt: number }>
}

/** What is known of a key before it is counted. */
export type IssuingKey = Pick<ApiKey, 'id' | 'tokensPerMinute'>

/** Where the parameters of an endpoint may stand beside the query. */
export type BodyKind = 'none' | 'json' | 'any'

/** An endpoint as data: routing, validation and documentation are made of it. */
export interface Endpoint<P extends Parameters = Parameters> {
  readonly path: string
  readonly methods: readonly ('GET' | 'POST')[]
  readonly summary: string
  readonly description?: string
  readonly tag: 'Authentication' | 'ABIs' | 'Rows' | 'Permissions' | 'Blocks'
  /** Whether a token is needed. */
  readonly needsToken: boolean
  /** `json`: a body that must be JSON, whatever the content type. `any`: a form or JSON, where there is one. */
  readonly body: BodyKind
  readonly parameters: P
  /** JSON Schema of the answer. */
  readonly answer: Schema
  /** Codes of refusals that only some endpoints have. */
  readonly refusals: readonly string[]
  /** @throws Refusal. @returns JSON text. */
  run(values: Values<P>, parts: StateParts): Promise<string | Buffer>
}

/** An endpoint whose parameters' types no longer matter. */
export type AnyEndpoint = Endpoint

/** Declares an endpoint. */
export function endpoint<P extends Parameters>(declared: Endpoint<P>): AnyEndpoint {
  return declared
}
