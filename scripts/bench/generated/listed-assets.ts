import { hash } from 'node:crypto'
import { assetName, immutableData } from './asset-data.ts'
import { assetId, NONE } from './assets.ts'
import type { GeneratedAssets } from './assets.ts'
import type { Catalogue } from './catalogue.ts'
import { arrayField } from './copy-sink.ts'
import { accountName } from './names.ts'

/** Columns of a listing that follow from its assets, as fields of a COPY. */
export interface ListedColumns {
  readonly templateId: number | null
  readonly minMint: number | null
  readonly maxMint: number | null
  readonly count: number
  readonly schemaName: string | null
  readonly name: string | null
  readonly names: string | null
  readonly ids: string
  readonly templateIds: string | null
  readonly schemaNames: string | null
  readonly traits: string
}

/** Maximum number of assets of a listing. */
const MOST_LISTED = 3

/** Derives columns of a listing from its assets: the columns that the filler copies from assets to listings. */
export class ListedAssets {
  readonly #catalogue: Catalogue
  readonly #assets: GeneratedAssets
  readonly #accountTraits = new Map<string, number>()

  constructor(catalogue: Catalogue, assets: GeneratedAssets) {
    this.#catalogue = catalogue
    this.#assets = assets
  }

  /**
   * Columns of a listing of the asset at position `first`. With `isBundle` the listing also contains the assets at the
   * next positions, as far as they are in the same collection.
   */
  columns(first: number, isBundle: boolean): ListedColumns {
    const positions = isBundle ? this.#bundle(first) : [first]
    const mints = positions.map((at) => this.#assets.mint[at]!).filter((mint) => mint !== NONE)
    const names = positions.map((at) => assetName(at, this.#assets, this.#catalogue))
    const known = distinct(names.filter((name) => name !== null))
    const traits = distinct(positions.flatMap((at) => this.#traitsOf(at)))
    return {
      minMint: mints.length === 0 ? null : Math.min(...mints),
      maxMint: mints.length === 0 ? null : Math.max(...mints),
      count: positions.length,
      name: names[0]!,
      // In the text format of COPY, a line end inside a value is written as a backslash and n.
      names: known.length === 0 ? null : known.sort().join('\\n'),
      ids: arrayField(positions.map(assetId)),
      traits: arrayField(ascending(traits)),
      ...(positions.length === 1 ? this.#ofOne(first) : this.#ofBundle(positions)),
    }
  }

  /** `market.asset_traits` of an asset as a field of a COPY. */
  traits(at: number): string {
    return arrayField(ascending(distinct(this.#traitsOf(at))))
  }

  #schemaName(at: number): string {
    return this.#collection(at).schemas[this.#assets.schema[at]!]!.name
  }

  #ofOne(at: number): Pick<ListedColumns, 'templateId' | 'schemaName' | 'templateIds' | 'schemaNames'> {
    const template = this.#assets.template[at]!
    return {
      templateId: template === NONE ? null : template,
      schemaName: this.#schemaName(at),
      templateIds: null,
      schemaNames: null,
    }
  }

  #ofBundle(
    positions: readonly number[],
  ): Pick<ListedColumns, 'templateId' | 'schemaName' | 'templateIds' | 'schemaNames'> {
    const templates = positions.map((at) => this.#assets.template[at]!).filter((id) => id !== NONE)
    const schemas = distinct(positions.map((at) => this.#schemaName(at))).sort()
    return {
      templateId: null,
      schemaName: null,
      templateIds: arrayField(ascending(distinct(templates))),
      schemaNames: `{${schemas.join(',')}}`,
    }
  }

  #bundle(first: number): number[] {
    const { collection, count } = this.#assets
    return Array.from({ length: MOST_LISTED }, (_, more) => first + more).filter(
      (at) => at < count && collection[at] === collection[first],
    )
  }

  #collection(at: number): Catalogue['collections'][number] {
    return this.#catalogue.collections[this.#assets.collection[at]!]!
  }

  #traitsOf(at: number): number[] {
    const { minter, receiver, template } = this.#assets
    const data = immutableData(at, template[at]!)
    return [
      this.#accountTrait('minter', this.#collection(at).minters[minter[at]!]!),
      this.#accountTrait('receiver', accountName(receiver[at]!)),
      ...Object.entries(data ?? {}).map(([key, value]) => trait(`data ${key}`, JSON.stringify(value))),
    ]
  }

  #accountTrait(kind: string, account: string): number {
    const key = kind + account
    const known = this.#accountTraits.get(key)
    if (known !== undefined) return known
    const made = trait(kind, account)
    this.#accountTraits.set(key, made)
    return made
  }
}

/** `market.trait`: the first 32 bits of an MD5. */
function trait(kind: string, value: string): number {
  return hash('md5', `${kind}\u001f${value}`, 'buffer').readInt32BE(0)
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}

function ascending(values: number[]): number[] {
  return values.sort((one, other) => one - other)
}
