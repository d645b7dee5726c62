import type { Template } from './catalogue.ts'

/** Template id of an asset without a template, and mint number of an asset without a mint number. */
export const NONE = -1

/**
 * State of every generated asset, in arrays. The index in an array is the position of the asset. The asset id is
 * `FIRST_ASSET_ID` plus the position.
 */
export class GeneratedAssets {
  /** Number of assets minted so far. */
  count = 0
  /** Number of the account that owns each asset; of a burned asset, the bitwise complement of its last owner. */
  readonly owner: Int32Array
  readonly receiver: Int32Array
  readonly collection: Int16Array
  /** Index of the schema within the collection. */
  readonly schema: Int8Array
  /** Template id, or `NONE`. */
  readonly template: Int32Array
  readonly mint: Int32Array
  /** Index of the minter within the collection's minters. */
  readonly minter: Int8Array
  readonly mintedSeq: Float64Array
  readonly mintedBlock: Int32Array
  readonly transferredBlock: Int32Array
  /** Block of the last change; of a burned asset, the block of the burn. */
  readonly updatedBlock: Int32Array
  /** Attribute `level` of the mutable data; 0 if absent. */
  readonly level: Uint16Array
  /** Attribute `xp` of the mutable data of assets with a level: a value with hardly any duplicates. */
  readonly xp: Uint32Array

  constructor(size: number) {
    const numbers = (): Int32Array => new Int32Array(size)
    this.owner = numbers()
    this.receiver = numbers()
    this.collection = new Int16Array(size)
    this.schema = new Int8Array(size)
    this.template = numbers()
    this.mint = numbers()
    this.minter = new Int8Array(size)
    this.mintedSeq = new Float64Array(size)
    this.mintedBlock = numbers()
    this.transferredBlock = numbers()
    this.updatedBlock = numbers()
    this.level = new Uint16Array(size)
    this.xp = new Uint32Array(size)
  }

  isBurned(at: number): boolean {
    return this.owner[at]! < 0
  }

  /**
   * Positions of an asset and of the assets directly after it that have the same owner and collection; at most `most`
   * positions.
   */
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

/** Id of the asset at a position in the arrays. */
export function assetId(position: number): number {
  return FIRST_ASSET_ID + position
}

/** Whether assets of the template can be transferred; true for assets without a template. */
export function isTransferable(template: Template | undefined): boolean {
  return template?.transferable ?? true
}
