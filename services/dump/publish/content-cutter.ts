/** Content of one dump file: COPY text, and its number of rows. */
export interface Content {
  readonly text: Buffer
  readonly rows: number
}

/** Minimum, mean and maximum size of the files of changing rows, in bytes before compression. */
const LEAST_BYTES = 2 ** 19
const MEAN_BYTES = 2 ** 21
const MOST_BYTES = 2 ** 23

const NEWLINE = 10
/** Start value and factor of the hash FNV-1a, 32 bits. */
const FNV_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Content-defined chunking: cuts COPY text at rows chosen by a hash of the row. Added or removed rows change only the
 * chunks next to them.
 */
export class ContentCutter {
  #parts: Buffer[] = []
  #bytes = 0
  #rows = 0
  #hash = FNV_BASIS
  #rowBytes = 0

  /** Appends COPY text; returns the files that are complete now. */
  push(chunk: Buffer): Content[] {
    const contents: Content[] = []
    let start = 0
    let hash = this.#hash
    let rowBytes = this.#rowBytes
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      hash = Math.imul(hash ^ byte, FNV_PRIME)
      rowBytes++
      if (byte !== NEWLINE) continue
      this.#rows++
      const bytes = this.#bytes + at + 1 - start
      if (bytes >= LEAST_BYTES && (hash >>> 0 < rowBytes * (2 ** 32 / MEAN_BYTES) || bytes >= MOST_BYTES)) {
        this.#add(chunk.subarray(start, at + 1))
        contents.push(this.#take())
        start = at + 1
      }
      hash = FNV_BASIS
      rowBytes = 0
    }
    this.#hash = hash
    this.#rowBytes = rowBytes
    if (start < chunk.length) this.#add(chunk.subarray(start))
    return contents
  }

  /** Returns the file of the remaining rows, in a list; the list is empty if no rows remain. */
  end(): Content[] {
    return this.#rows === 0 ? [] : [this.#take()]
  }

  #add(part: Buffer): void {
    this.#parts.push(part)
    this.#bytes += part.length
  }

  #take(): Content {
    const content = { text: Buffer.concat(this.#parts), rows: this.#rows }
    this.#parts = []
    this.#bytes = 0
    this.#rows = 0
    return content
  }
}
