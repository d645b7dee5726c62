import type { RowSink } from '../../rows/operations.ts'
import type {
  StateWriterScope,
  WriterBlock,
  RawPermission,
  RawPermissionLink,
  RawRow,
} from '../state-writer.ts'
import type { StateHistorySettings, StateWriterState } from './state.ts'
import { stateTables } from '../../../core/model/tables/index.ts'

/** Shift that maps unsigned 64-bit keys to signed integers in the same order. */
const KEY_OFFSET = 2n ** 63n

/** Stores the contract rows and permissions that one block changed, in packed form. */
export class StateBlock implements StateWriterScope<StateWriterState> {
  readonly #settings: StateHistorySettings
  readonly #block: WriterBlock
  readonly #state: StateWriterState
  readonly #sink: RowSink
  readonly #historyFrom: number

  constructor(settings: StateHistorySettings, block: WriterBlock, state: StateWriterState, sink: RowSink) {
    this.#settings = settings
    this.#block = block
    this.#state = state
    this.#sink = sink
    this.#historyFrom = Math.max(state.historyFrom, historyFloor(settings.historyBlocks, block))
    // Prune before storing rows, so that rows older than the history limit are not even collected.
    if (this.#historyFrom > 0) {
      sink.forget(stateTables.rows, this.#historyFrom)
      sink.forget(stateTables.links, this.#historyFrom)
      sink.forget(stateTables.permissions, this.#historyFrom)
      sink.forget(stateTables.blocks, this.#historyFrom)
    }
  }

  row(row: RawRow): void {
    const key = {
      account: row.code,
      table_name: row.table,
      scope: row.scope,
      primary_key: row.primaryKey() - KEY_OFFSET,
    }
    this.#noteTable(key.account, key.table_name)
    if (!row.present) return this.#sink.end(stateTables.rows, key, this.#block.num)
    this.#sink.version(stateTables.rows, {
      ...key,
      since_block: this.#block.num,
      payer: row.payer,
      value: Uint8Array.from(row.value),
    })
  }

  permission(present: boolean, { account, permission, keys }: RawPermission): void {
    if (!present) this.#sink.end(stateTables.permissions, { account, permission }, this.#block.num)
    else
      this.#sink.version(stateTables.permissions, { account, permission, since_block: this.#block.num, keys })
  }

  link(present: boolean, { account, contract, action, permission }: RawPermissionLink): void {
    const key = { account, contract, action }
    if (!present) this.#sink.end(stateTables.links, key, this.#block.num)
    else this.#sink.version(stateTables.links, { ...key, since_block: this.#block.num, permission })
  }

  end(): StateWriterState {
    const block = this.#block
    const sink = this.#sink
    const state = this.#state
    const { reader, accounts, permissions } = this.#settings
    if (block.num >= this.#historyFrom) {
      sink.upsert(stateTables.blocks, {
        block_num: block.num,
        reader,
        block_time: block.timeMs,
        block_id: Uint8Array.from(block.id),
      })
    }
    const sinceBlock = state.sinceBlock ?? block.num
    if (state.sinceBlock !== null && state.historyFrom === this.#historyFrom) return state
    const coverage = { since_block: sinceBlock, history_from: this.#historyFrom }
    sink.upsert(stateTables.coverage, { reader, accounts, permissions, ...coverage })
    return { ...state, sinceBlock, historyFrom: this.#historyFrom }
  }

  #noteTable(account: string, table: string): void {
    const name = `${account}/${table}`
    if (this.#state.tables.has(name)) return
    this.#state.tables.add(name)
    this.#sink.upsert(stateTables.tables, {
      account,
      table_name: table,
      since_block: this.#block.num,
      reader: this.#settings.reader,
    })
  }
}

/**
 * First block whose state stays readable. The floor moves in steps, so that not every block prunes. The floor never
 * exceeds the last irreversible block, because a fork may restore older state.
 */
function historyFloor(historyBlocks: number, block: WriterBlock): number {
  if (historyBlocks === 0) return 0
  const step = Math.min(Math.max(Math.floor(historyBlocks / 8), 1), 1024)
  const floor = Math.min(block.head - historyBlocks, block.irreversible)
  return floor <= 0 ? 0 : floor - (floor % step)
}
