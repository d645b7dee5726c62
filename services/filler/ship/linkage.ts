import type { ResumePosition, WirePosition } from './types.ts'

/**
 * Relation of a block to the delivered blocks: `next` continues the chain; `resent` is a block that was delivered
 * before; `fork` replaces delivered blocks from its number up; `unlinked` has an unknown parent, so a fork was missed;
 * `gap` leaves out block numbers.
 */
export type Linkage = 'next' | 'resent' | 'fork' | 'unlinked' | 'gap'

const ID_LENGTH = 32
/** Offset of `previous` in a packed block header: timestamp 4, producer 8, confirmed 2. */
const PREVIOUS_OFFSET = 14
const PRUNE_INTERVAL = 1024

function sameId(left: Uint8Array, right: Uint8Array, offset: number): boolean {
  for (let index = 0; index < ID_LENGTH; index++) {
    if (left[index] !== right[offset + index]) return false
  }
  return true
}

/**
 * Whether the header of a packed block names `parent` as its previous block. EOSIO 2.1 and 2.2 send a variant, which
 * has an index byte before the header. Both offsets are tried: 32 bytes of a hash do not match by chance.
 */
function headerNames(block: Uint8Array, parent: Uint8Array): boolean {
  if (block.length < PREVIOUS_OFFSET + 1 + ID_LENGTH) return false
  return sameId(parent, block, PREVIOUS_OFFSET) || sameId(parent, block, PREVIOUS_OFFSET + 1)
}

/**
 * Hexadecimal id of the previous block, read from the packed header of block `num`. The header begins at offset 0, or
 * at offset 1 after a variant index. The first 4 bytes of an id are the block number, which shows where the header
 * begins.
 */
export function previousInHeader(block: Uint8Array, num: number): string {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.length)
  if (bytes.length < PREVIOUS_OFFSET + 1 + ID_LENGTH) return 'unknown'
  const start = bytes.readUInt32BE(PREVIOUS_OFFSET) === num - 1 ? PREVIOUS_OFFSET : PREVIOUS_OFFSET + 1
  return bytes.toString('hex', start, start + ID_LENGTH)
}

/**
 * The end of the delivered chain: the next block number, the id of the last block, and the ids of the reversible blocks
 * before the last block. Ids are copied, because a view would retain the whole message in memory.
 */
export class ChainTail {
  #next = 1
  #last: Uint8Array | null = null
  readonly #lastCopy = new Uint8Array(ID_LENGTH)
  /** Ids of consecutive reversible blocks, up to the last block; empty while irreversible blocks arrive. */
  #reversible: Uint8Array[] = []
  #sincePrune = 0

  /** Number of the next block to deliver. */
  get next(): number {
    return this.#next
  }

  /**
   * Id of block `next - 1`; null if unknown. The bytes are valid until the next call of `append`, which overwrites
   * them.
   */
  get lastId(): Uint8Array | null {
    return this.#last
  }

  /**
   * Restarts from the blocks that the pipeline holds. `next` is the number after the last of these blocks, or a higher
   * `startBlock`.
   */
  reset(resume: ResumePosition, next: number): void {
    this.#next = next
    this.#last = null
    this.#reversible = []
    const last = resume.lastApplied
    if (last === null || last.num !== next - 1) return
    this.#setLast(Buffer.from(last.id, 'hex'))
    this.#reversible = consecutiveIds(resume, last.num)
  }

  /**
   * Determines the relation of a block to the delivered blocks. `parent` and `block` may be null if the node does not
   * send them.
   */
  classify(position: WirePosition, parent: WirePosition | null, block: Uint8Array | null): Linkage {
    const { num, id } = position
    if (num > this.#next) return 'gap'
    if (num < this.#next) {
      const ours = this.idAt(num)
      if (ours !== null && sameId(ours, id, 0)) return 'resent'
    }
    const expectedParent = this.idAt(num - 1)
    if (expectedParent !== null && !namesParent(expectedParent, parent, block)) return 'unlinked'
    return num === this.#next ? 'next' : 'fork'
  }

  /**
   * Adds a block that `classify` called `next`. Drops ids up to `libNum` when an irreversible block arrives, and once
   * per PRUNE_INTERVAL reversible blocks.
   */
  append(num: number, id: Uint8Array, libNum: number): void {
    this.#next = num + 1
    this.#setLast(id)
    if (num <= libNum) {
      if (this.#reversible.length > 0) this.#reversible = []
      return
    }
    this.#reversible.push(new Uint8Array(id))
    this.#sincePrune += 1
    if (this.#sincePrune >= PRUNE_INTERVAL) this.#prune(libNum)
  }

  /** Removes block `from` and all later blocks. */
  rewind(from: number): void {
    const parent = this.idAt(from - 1)
    this.#reversible.length = Math.max(0, this.#reversible.length - (this.#next - from))
    this.#next = from
    if (parent === null) this.#last = null
    else this.#setLast(parent)
  }

  #setLast(id: Uint8Array): void {
    this.#lastCopy.set(id)
    this.#last = this.#lastCopy
  }

  /** Id of a delivered block; null if unknown. */
  idAt(num: number): Uint8Array | null {
    if (num === this.#next - 1) return this.#last
    return this.#reversible[num - this.#next + this.#reversible.length] ?? null
  }

  #prune(libNum: number): void {
    this.#sincePrune = 0
    const first = this.#next - this.#reversible.length
    if (libNum >= first) this.#reversible = this.#reversible.slice(libNum - first + 1)
  }
}

/** Whether the block's parent has the id `expected`. The parent is `parent`, or read from the packed header if null. */
export function namesParent(
  expected: Uint8Array,
  parent: WirePosition | null,
  block: Uint8Array | null,
): boolean {
  if (parent !== null) return sameId(expected, parent.id, 0)
  return block !== null && headerNames(block, expected)
}

/** Block ids of the longest run of known positions with consecutive block numbers that ends at block `lastNum`. */
function consecutiveIds(resume: ResumePosition, lastNum: number): Uint8Array[] {
  const ids: Uint8Array[] = []
  const positions = resume.havePositions
  for (let index = positions.length - 1, num = lastNum; index >= 0; index--, num--) {
    const position = positions[index]
    if (position?.num !== num) break
    ids.push(Buffer.from(position.id, 'hex'))
  }
  return ids.reverse()
}
