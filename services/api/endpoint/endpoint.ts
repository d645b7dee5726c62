import type { Session } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import type { AttributeFamily, AttributeFilter } from './attribute-filters.ts'
import type { Parameter } from './parameter.ts'
import type { NamedSchema, RecordSchema } from './record-schema.ts'
import type { Values } from './values.ts'

/** An answer other than success that an endpoint has of its own. */
export interface Failure {
  readonly status: number
  readonly message: string
}

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
  /**
   * What `data` is: `assetRecord`, `list(assetRecord)`, `rowCount`. The schema of a record stands beside the code that
   * writes the record.
   */
  readonly record: RecordSchema
  /** Answers other than success beside those that every endpoint has (400, 404 for an unknown path, 408, 503). */
  readonly failures?: readonly Failure[]
  /** What an answer may be kept by: path and parameters (default), the path alone, or not at all. */
  readonly cache?: 'path' | 'none'
  /** How many times longer than those of other endpoints its answers are kept. Default 1. */
  readonly cacheLifeFactor?: number
  /**
   * Answers with the JSON of `data`.
   * @throws RequestError for an answer other than success.
   */
  readonly run: (context: EndpointContext) => Promise<Json>
}

/** Reads records of one kind by their keys, as the endpoint of one record answers them. */
export interface RecordReader {
  readonly schema: NamedSchema
  /** Records by key; a key without a row is missing. */
  readonly read: (session: Session, keys: readonly string[]) => Promise<ReadonlyMap<string, Json>>
}

/** The endpoints of one contract family. */
export interface Namespace {
  readonly name: string
  readonly endpoints: readonly Endpoint[]
  /** What events tell of, by kind of record. */
  readonly records: Readonly<Record<string, RecordReader>>
  /** Milliseconds since 1970, where answers depend on what second it is. */
  readonly clock?: () => number
  /** Forgets what is kept of the database: it may be another one now. */
  forget(): void
}
