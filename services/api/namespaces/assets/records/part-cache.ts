import type { Session, SqlValue } from '../../../database/index.ts'

/**
 * How the parts of one kind are made. A part is JSON text that many records have in common, such as the collection
 * inside each of its assets.
 */
export interface PartKind {
  readonly name: string
  /**
   * Statement that takes keys (`$1::text[]`) and returns key, version and the texts of each part that exists. The
   * version changes whenever the row does.
   */
  readonly text: string
}

/** The texts of a part; what each means is up to its kind. */
export type Part = readonly (string | null)[]

interface Entry {
  readonly version: string
  readonly part: Part
  readonly bytes: number
}

/** Keys of one statement. */
const BATCH = 500
/** Cost of an entry beside its texts. */
const ENTRY_BYTES = 200

/**
 * Keeps parts by key and the version of the row that they were made from. A reader asks for the version that its own
 * query has just seen, so nothing stale is ever served and nothing needs to be invalidated. The least recently used
 * parts are dropped beyond a number of bytes.
 */
export class PartCache {
  readonly #entries = new Map<string, Entry>()
  readonly #kind: PartKind
  readonly #maxBytes: number
  #bytes = 0

  constructor(kind: PartKind, maxBytes: number) {
    this.#kind = kind
    this.#maxBytes = maxBytes
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.#bytes
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  /**
   * The parts for keys and the versions wanted of them. A row that has changed since the version was read comes in
   * its newer form; one that is gone is missing.
   */
  async load(session: Session, wanted: ReadonlyMap<string, string>): Promise<Map<string, Part>> {
    const found = new Map<string, Part>()
    const missing: string[] = []
    for (const [key, version] of wanted) {
      const part = this.#get(key, version)
      if (part) found.set(key, part)
      else missing.push(key)
    }
    for (let at = 0; at < missing.length; at += BATCH) {
      await this.#make(session, missing.slice(at, at + BATCH), found)
    }
    return found
  }

  #get(key: string, version: string): Part | undefined {
    const entry = this.#entries.get(key)
    if (entry?.version !== version) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.part
  }

  async #make(session: Session, keys: SqlValue & readonly string[], found: Map<string, Part>): Promise<void> {
    const rows = await session.query<[string, string, ...(string | null)[]]>({
      name: `part ${this.#kind.name}`,
      text: this.#kind.text,
      values: [keys],
    })
    for (const [key, version, ...part] of rows) {
      found.set(key, part)
      this.#put(key, version, part)
    }
  }

  #put(key: string, version: string, part: Part): void {
    const before = this.#entries.get(key)
    if (before) this.#bytes -= before.bytes
    this.#entries.delete(key)
    const bytes = part.reduce((sum, text) => sum + 2 * (text?.length ?? 0), ENTRY_BYTES)
    this.#entries.set(key, { version, part, bytes })
    this.#bytes += bytes
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= entry.bytes
    }
  }
}
