import type { NamedSchema } from '../../endpoint/index.ts'
import type { ListReader } from '../../lists/index.ts'
import type { Parts, RecordRenderer } from './records/index.ts'

/** Largest `limit` of each list, by the keys of `args.limits`. */
export interface AssetsLimits {
  readonly assets: number
  readonly accounts: number
  readonly collections: number
  readonly schemas: number
  readonly templates: number
  readonly offers: number
  readonly transfers: number
  readonly burns: number
  readonly logs: number
}

/** How a namespace shows assets: the market says more of them than the contract itself. */
export interface AssetView {
  readonly render: RecordRenderer
  /** Shape of what it renders. */
  readonly record: NamedSchema
  /** Milliseconds since 1970, where the clock decides what is said of them. */
  readonly clock?: () => number
}

/** What the endpoints of a mounted namespace share. */
export interface AssetsSetup {
  /** Contract account; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly limits: AssetsLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  readonly parts: Parts
  readonly lists: ListReader
  readonly view: AssetView
}
