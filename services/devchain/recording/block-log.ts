import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'
import type { Chain, ChainBlock } from '../chain/index.ts'
import { packResult } from '../ship/index.ts'
import { readMessage } from './read.ts'

const everything = { fetchBlock: true, fetchTraces: true, fetchDeltas: true }

/** A record above this size is corrupt, bytes. */
const MAX_RECORD_BYTES = 1024 * 1024 * 1024

/**
 * File of generated blocks, so that the chain continues after a restart. A record is a length (u32) and the bytes of a
 * blocks result. A repeated block number is a fork, as in a recording. The file only grows.
 */
export class BlockLog {
  readonly #path: string
  readonly #file: number
  #end = 0

  /** Opens `blocks.log` in the folder and creates both if they are missing. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true })
    this.#path = join(folder, 'blocks.log')
    this.#file = openSync(this.#path, 'a+')
  }

  /**
   * Appends the stored blocks to the chain, including forks. A truncated last record is dropped, but a file without any
   * whole record stays as it is: the file may not be a log of blocks.
   * @throws FatalError RECORDING_INVALID if the blocks do not follow the chain; the file is then closed
   */
  replayInto(chain: Chain): void {
    try {
      for (let block = this.#readNext(); block !== null; block = this.#readNext()) {
        chain.rewindTo(block.num - 1)
        chain.push(block)
      }
      if (this.#end === 0 && fstatSync(this.#file).size > 0)
        throw new Error('the file contains no complete record')
    } catch (cause) {
      this.close()
      const message = `${this.#path} does not continue this chain: it is damaged or belongs to other recordings`
      throw new FatalError('RECORDING_INVALID', message, { cause })
    }
    ftruncateSync(this.#file, this.#end)
  }

  /** Appends a block that became the head. */
  append(chain: Chain, block: ChainBlock): void {
    const bytes = packResult(chain.head, chain.lib, block, everything)
    const record = Buffer.allocUnsafe(4 + bytes.length)
    record.writeUInt32LE(bytes.length, 0)
    record.set(bytes, 4)
    writeSync(this.#file, record)
  }

  close(): void {
    closeSync(this.#file)
  }

  #readNext(): ChainBlock | null {
    const size = this.#readAt(this.#end, 4)?.readUInt32LE(0)
    if (size === undefined) return null
    if (size > MAX_RECORD_BYTES)
      throw new Error(`the block log has a record of ${size} bytes, above the maximum of ${MAX_RECORD_BYTES}`)
    const bytes = this.#readAt(this.#end + 4, size)
    if (bytes === null) return null
    this.#end += 4 + size
    const { num, id, prevId, block, traces, deltas } = readMessage(bytes).block
    return { num, id, prevId, block, traces, deltas }
  }

  #readAt(position: number, size: number): Buffer | null {
    const bytes = Buffer.allocUnsafe(size)
    let done = 0
    while (done < size) {
      const count = readSync(this.#file, bytes, done, size - done, position + done)
      if (count === 0) return null
      done += count
    }
    return bytes
  }
}
