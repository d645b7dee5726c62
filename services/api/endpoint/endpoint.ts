import type { Session } from '../database/index.ts'
import type { AttributeFamily, AttributeFilter } from './attribute-filters.ts'
import type { Parameter } from './parameter.ts'
import type { Values } from './values.ts'

/** What an endpoint works with. */
export interface EndpointContext {
  readonly session: Session
  readonly values: Values
  readonly attributes: readonly AttributeFilter[]
}

/**
 * One endpoint as data. Routes, validation, documentation and the route lists of tests come from these fields; only
 * `run` is code.
 */
export interface Endpoint {
  /** Below the path of the namespace, for example `/v1/assets/:asset_id`. */
  readonly path: string
  /** `get`: GET and HEAD only. Default: any method. */
  readonly method?: 'get'
  /** Group in the documentation. */
  readonly tag: string
  readonly summary: string
  readonly parameters: readonly Parameter[]
  /** Families of attribute filters that it understands. */
  readonly attributes?: readonly AttributeFamily[]
  /** Name of the record in `data`, with `[]` for a list; `count` for a decimal string. */
  readonly record: string
  /** What an answer may be kept by: path and parameters (default), the path alone, or not at all. */
  readonly cache?: 'path' | 'none'
  /**
   * Answers with the JSON text of `data`.
   * @throws RequestError for an answer other than success.
   */
  readonly run: (context: EndpointContext) => Promise<string>
}

/** The endpoints of one contract family. */
export interface Namespace {
  readonly name: string
  readonly endpoints: readonly Endpoint[]
  /** Forgets what is kept of the database: it may be another one now. */
  forget(): void
}
