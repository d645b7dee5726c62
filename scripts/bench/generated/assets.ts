import type { Template } from './catalogue.ts'

/** No account, template or block. */
export const NONE = -1

/** The state of every asset, by its position; ids run from `FIRST_ASSET_ID` in the same order. */
export class GeneratedAssets {
  /** Assets minted so far. */
  count = 0
  /** Accounts, by number. */
  readonly owner: Int32Array
  readonly receiver: Int32Array
  readonly burner: Int32Array
  readonly collection: Int16Array
  /** Position of the schema within the collection. */
  readonly schema: Int16Array
  /** Id, or `NONE`. */
  readonly template: Int32Array
  readonly mint: Int32Array
  /** Position within the minters of the collection. */
  readonly minter: Int8Array
  readonly mintedSeq: Float64Array
  readonly mintedBlock: Int32Array
  readonly transferredBlock: Int32Array
  readonly updatedBlock: Int32Array
  readonly burnedBlock: Int32Array
  /** Level in the mutable data; 0 for none. */
  readonly level: Uint16Array
  /** Experience in the mutable data of assets that have a level: hardly two have the same. */
  readonly xp: Uint32Array

  constructor(size: number) {
    const numbers = (): Int32Array => new Int32Array(size)
    this.owner = numbers()
    this.receiver = numbers()
    this.burner = numbers().fill(NONE)
    this.collection = new Int16Array(size)
    this.schema = new Int16Array(size)
    this.template = numbers()
    this.mint = numbers()
    this.minter = new Int8Array(size)
    this.mintedSeq = new Float64Array(size)
    this.mintedBlock = numbers()
    this.transferredBlock = numbers()
    this.updatedBlock = numbers()
    this.burnedBlock = numbers().fill(NONE)
    this.level = new Uint16Array(size)
    this.xp = new Uint32Array(size)
  }

  /** An asset and its neighbours of the same owner and collection: they were minted together. */
  run(first: number, most: number): number[] {
    const positions = [first]
    for (let next = first + 1; next < this.count && positions.length < most; next++) {
      if (this.owner[next] !== this.owner[first] || this.collection[next] !== this.collection[first]) break
      positions.push(next)
    }
    return positions
  }
}

/** Id of the first asset of the chain. */
export const FIRST_ASSET_ID = 2 ** 40

/** Id of the asset at a position. */
export function assetId(position: number): number {
  return FIRST_ASSET_ID + position
}

/** Assets of such a template, or without any, can change hands. */
export function isTransferable(template: Template | undefined): boolean {
  return template?.transferable ?? true
}
