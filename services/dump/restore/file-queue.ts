import type { Manifest, ManifestFile, ManifestTable } from '../format/manifest.ts'

/** A dump file to load, with its table. */
export interface QueuedFile {
  readonly table: ManifestTable
  readonly file: ManifestFile
}

interface Waiting {
  readonly table: ManifestTable
  readonly files: ManifestFile[]
  bytes: number
  active: number
}

/**
 * Files still to load. Concurrent sessions take files of different tables if possible, so that the rows of a table are
 * stored in the order of the dump.
 */
export class FileQueue {
  readonly #waiting: Waiting[]

  constructor({ tables }: Manifest, loaded: ReadonlySet<string>) {
    this.#waiting = tables.map((table) => {
      const files = table.files.filter(({ path }) => !loaded.has(path))
      return { table, files, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), active: 0 }
    })
  }

  /**
   * Takes the next file to load: a file of the table that the fewest sessions work on. Returns undefined if no file is
   * left.
   */
  take(): QueuedFile | undefined {
    const [next] = this.#waiting
      .filter(({ files }) => files.length > 0)
      .sort((one, other) => one.active - other.active || other.bytes - one.bytes)
    const file = next?.files.shift()
    if (next === undefined || file === undefined) return undefined
    next.bytes -= file.bytes
    next.active++
    return { table: next.table, file }
  }

  /** Ends the work of a session on a file, so that `take` counts one session less for the table. */
  end({ table }: QueuedFile): void {
    const found = this.#waiting.find((each) => each.table === table)
    if (found) found.active--
  }
}
