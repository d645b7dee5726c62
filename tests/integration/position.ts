import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { patient } from '../setup/patience.ts'

/** Last committed block of a reader. */
export interface CommittedPosition {
  readonly num: number
  /** Block id, hexadecimal digits. */
  readonly id: string
}

const POLL_MS = 8
const patienceMs = patient(60_000)

/** Observes the committed position of a reader through the database. */
export class PositionWatch {
  readonly #client: pg.Client
  readonly #reader: string

  private constructor(client: pg.Client, reader: string) {
    this.#client = client
    this.#reader = reader
  }

  /** Connects to the reader's database, which may still be empty. */
  static async open(address: DatabaseAddress, reader: string): Promise<PositionWatch> {
    const client = await connectDatabase(address, { applicationName: 'test watch' })
    return new PositionWatch(client, reader)
  }

  /** Reads the committed position; null before the first commit. */
  async read(): Promise<CommittedPosition | null> {
    try {
      const { rows } = await this.#client.query<{ num: number; id: Buffer }>({
        name: 'position',
        text: 'SELECT block_num AS num, block_id AS id FROM chain.readers WHERE name = $1',
        values: [this.#reader],
      })
      const row = rows[0]
      return row ? { num: row.num, id: row.id.toString('hex') } : null
    } catch (error) {
      if (isMissingTable(error)) return null
      throw error
    }
  }

  /**
   * Waits until `holds` accepts the position, or `isOver` returns true.
   *
   * @throws Error with the position after one minute.
   */
  async until(
    holds: (position: CommittedPosition | null) => boolean,
    isOver: () => boolean = () => false,
  ): Promise<CommittedPosition | null> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      const position = await this.read()
      if (holds(position) || isOver()) return position
      if (performance.now() > deadline) throw new Error(`the reader stays at block ${String(position?.num)}`)
      await delay(POLL_MS)
    }
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}

function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000')
}
