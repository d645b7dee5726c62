import type { EndpointBase, Parameters, Values } from '../../core/endpoint/index.ts'
import type { Session } from '../database/index.ts'
import type { Json } from '../json/index.ts'
import type { AttributeFamily, AttributeFilter } from '../request/index.ts'
import type { NamedSchema, RecordSchema } from './record-schema.ts'

/** An answer other than success that only some endpoints have. */
export interface Failure {
  readonly status: number
  readonly message: string
}

/** Input of an endpoint's function `run`. `V` is the type of the parsed parameters. */
export interface EndpointContext<V = Values> {
  readonly session: Session
  readonly values: V
  readonly attributes: readonly AttributeFilter[]
  /** Names from the endpoint's list `noted` that occur as parameters in the request, also with an empty value. */
  readonly noted?: readonly string[]
}

/**
 * Returns the member `data` of the answer, as JSON.
 * @throws RequestError for an answer with a status other than 200.
 */
export type Run<V> = (context: EndpointContext<V>) => Promise<Json>

/**
 * One endpoint as data. Routes, validation, documentation and the route lists of tests are derived from these fields;
 * only `run` is code.
 */
export interface Endpoint<P extends Parameters = Parameters> extends EndpointBase<P> {
  /** `get`: the endpoint answers GET and HEAD only. Default: the endpoint also answers POST. */
  readonly method?: 'get'
  /**
   * Names of parameters that have a meaning even with an empty value. Other parameters with an empty value count as
   * absent.
   */
  readonly noted?: readonly string[]
  /** Sets of attributes that the endpoint filters by, such as `data` and `mutable_data`. */
  readonly attributes?: readonly AttributeFamily[]
  /**
   * Schema of `data`, such as `assetRecord`, `list(assetRecord)` or `rowCount`. The schema of a record is next to the
   * code that writes the record.
   */
  readonly record: RecordSchema
  /**
   * Error responses that this endpoint has in addition to the error responses of every endpoint (400, 404 for an
   * unknown path, 408, 503).
   */
  readonly failures?: readonly Failure[]
  /**
   * Parts of a request that form the cache key of its answer: by default the path and the parameters; `path`: only the
   * path; `none`: answers are not cached.
   */
  readonly cache?: 'path' | 'none'
  /** Factor of the cache lifetime of the endpoint's answers. Default 1. */
  readonly cacheLifeFactor?: number
  run(context: EndpointContext<Values<P>>): Promise<Json>
}

/**
 * Declares an endpoint. The type of the result does not depend on the parameters, so that endpoints with different
 * parameters can be in one list.
 */
export function endpoint<P extends Parameters>(
  declared: Endpoint<P> & { readonly run: Run<Values<P>> },
): Endpoint {
  return declared
}

/** Values by which live subscriptions filter a record, and the size of the record. */
export interface RecordKeys {
  readonly collections: readonly string[]
  readonly templates: readonly string[]
  readonly accounts: readonly string[]
  readonly assets: readonly string[]
  /** Lower bound of the record's size, bytes. */
  readonly bytes: number
}

/** Reads records of one kind by key, in the form that the endpoint of a single record returns. */
export interface RecordReader {
  readonly schema: NamedSchema
  /** Path of a record, relative to the path of the namespace. */
  readonly path: (key: string) => string
  /** Reads the filter values of records by key. A key without a row is absent from the result. */
  readonly readKeys: (session: Session, keys: readonly string[]) => Promise<ReadonlyMap<string, RecordKeys>>
  /** Reads records by key. A key without a row is absent from the result. */
  readonly read: (session: Session, keys: readonly string[]) => Promise<ReadonlyMap<string, Json>>
}

/** The endpoints of one contract family. */
export interface Namespace {
  readonly name: string
  readonly endpoints: readonly Endpoint[]
  /** Functions that read the records of events, by record type. */
  readonly records: Readonly<Record<string, RecordReader>>
  /** Drops all cached data of the database, because the API may now use another database. */
  forget(): void
}
