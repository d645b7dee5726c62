import type { EndpointBase, Parameters, Values } from '../../core/endpoint/index.ts'
import type { Session } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import type { AttributeFamily, AttributeFilter } from '../request/index.ts'
import type { NamedSchema, RecordSchema } from './record-schema.ts'

/** An answer other than success that an endpoint has of its own. */
export interface Failure {
  readonly status: number
  readonly message: string
}

/** Input of an endpoint's handler. `V` is the type of its parsed parameters. */
export interface EndpointContext<V = Values> {
  readonly session: Session
  readonly values: V
  readonly attributes: readonly AttributeFilter[]
  /** Names among `noted` of the endpoint that the request has, even if empty. */
  readonly noted?: readonly string[]
}

/** Returns the JSON of `data`. @throws RequestError for an answer other than success. */
export type Run<V> = (context: EndpointContext<V>) => Promise<Json>

/**
 * One endpoint as data. Routes, validation, documentation and the route lists of tests come from these fields; only
 * `run` is code.
 */
export interface Endpoint<P extends Parameters = Parameters> extends EndpointBase<P> {
  /** `get`: GET and HEAD only. Default: POST too. */
  readonly method?: 'get'
  /** Parameters of which it matters that they were given even where they are empty, which counts as absent otherwise. */
  readonly noted?: readonly string[]
  /** Families of attribute filters that it understands. */
  readonly attributes?: readonly AttributeFamily[]
  /** Schema of `data`: `assetRecord`, `list(assetRecord)`, `rowCount`. The schema of a record is next to the code that writes the record.
   */
  readonly record: RecordSchema
  /** Answers other than success, in addition to those that every endpoint has (400, 404 for an unknown path, 408, 503). */
  readonly failures?: readonly Failure[]
  /** Cache key of an answer: path and parameters (default), the path alone, or none. */
  readonly cache?: 'path' | 'none'
  /** Factor of the cache lifetime of this endpoint's answers, relative to other endpoints. Default 1. */
  readonly cacheLifeFactor?: number
  run(context: EndpointContext<Values<P>>): Promise<Json>
}

/** Declares an endpoint; the types of its parameters matter no longer then. */
export function endpoint<P extends Parameters>(
  declared: Endpoint<P> & { readonly run: Run<Values<P>> },
): Endpoint {
  return declared
}

/** Values of a record that live subscriptions filter by, and its size. */
export interface RecordKeys {
  readonly collections: readonly string[]
  readonly templates: readonly string[]
  readonly accounts: readonly string[]
  readonly assets: readonly string[]
  /** The record has at least this many bytes. */
  readonly bytes: number
}

/** Reads records of one kind by their keys, as the endpoint of one record answers them. */
export interface RecordReader {
  readonly schema: NamedSchema
  /** Path of a record below that of the namespace. */
  readonly path: (key: string) => string
  /** Filter values of records, by key; a key without a row is missing. */
  readonly readKeys: (session: Session, keys: readonly string[]) => Promise<ReadonlyMap<string, RecordKeys>>
  /** Records by key; a key without a row is missing. */
  readonly read: (session: Session, keys: readonly string[]) => Promise<ReadonlyMap<string, Json>>
}

/** The endpoints of one contract family. */
export interface Namespace {
  readonly name: string
  readonly endpoints: readonly Endpoint[]
  /** Records of events, by kind. */
  readonly records: Readonly<Record<string, RecordReader>>
  /** Drops everything cached from the database: it may be another one now. */
  forget(): void
}
