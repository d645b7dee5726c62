import type { RowSink } from '../../rows/operations.ts'
import { BlockTransactions } from '../block-transactions.ts'
import type { BlockInfo, BlockScope, BlockStart } from '../handler.ts'
import { logCodes } from './contract.ts'
import type { LinkState, LogNewLink, ToolsAction, ToolsRowEvent } from './contract.ts'
import { linkCollections } from './link-derivations.ts'
import { toolsTables } from '../../../core/model/tables/index.ts'
import type { RowOf } from '../../../core/model/index.ts'

/** States of claim links as the API returns them. */
const linkStates = { waiting: 0, created: 1, cancelled: 2, claimed: 3 } as const

/** Changes of one claim link in the current block. */
interface LinkChange {
  /** Action that announced the claim link; null if an earlier block contains the action. */
  announced: LogNewLink | null
  /**
   * Last contract row of the claim link in the current block; null if the block does not contain the row. If an earlier
   * block announced the claim link, the data of the link comes from this row.
   */
  row: LinkState | null
  /** State of the claim link after the last action on the link in this block. */
  outcome: Pick<RowOf<typeof toolsTables.links>, 'state' | 'claimer' | 'claimer_signature'> | null
}

interface ToolsBlockStart extends BlockStart<null> {
  readonly account: string
  readonly keepsLogs: boolean
}

/** Applies one block of the tools contract. */
export class ToolsBlock implements BlockScope<null, ToolsAction, ToolsRowEvent> {
  readonly #account: string
  readonly #keepsLogs: boolean
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #transactions: BlockTransactions
  readonly #links = new Map<bigint, LinkChange>()

  constructor({ account, keepsLogs, block, sink }: ToolsBlockStart) {
    this.#account = account
    this.#keepsLogs = keepsLogs
    this.#block = block
    this.#sink = sink
    this.#transactions = new BlockTransactions(block)
  }

  action(event: ToolsAction): void {
    const { link_id: linkId } = event.data
    const change = this.#change(linkId)
    const unclaimed = { claimer: null, claimer_signature: null }
    switch (event.name) {
      case 'lognewlink':
        change.announced = event.data
        change.outcome = { state: linkStates.waiting, ...unclaimed }
        break
      case 'loglinkstart':
        change.outcome = { state: linkStates.created, ...unclaimed }
        break
      case 'cancellink':
        change.outcome = { state: linkStates.cancelled, ...unclaimed }
        break
      case 'claimlink': {
        const { claimer, claimer_signature } = event.data
        change.outcome = { state: linkStates.claimed, claimer, claimer_signature }
      }
    }
    this.#log(event, linkId)
  }

  row(event: ToolsRowEvent): void {
    if (event.table === 'links') {
      const link = event.value()
      this.#change(link.link_id).row = link
    } else if (event.present) {
      const { version, link_counter, atomicassets_account } = event.value()
      const row = { contract: this.#account, version, assets_contract: atomicassets_account, link_counter }
      this.#sink.upsert(toolsTables.config, row)
    }
  }

  end(): null {
    for (const [linkId, change] of this.#links) this.#write(linkId, change)
    this.#transactions.end(toolsTables.blocks, this.#sink)
    return null
  }

  /**
   * Writes a changed claim link. A claim link that was announced before the reader's first block is created from the
   * contract row.
   */
  #write(linkId: bigint, { announced, row, outcome }: LinkChange): void {
    if (outcome === null) return
    const { num, timeMs } = this.#block
    const updated = { ...outcome, updated_at_time: timeMs, updated_at_block: num }
    const known = announced ?? row
    if (known === null) {
      this.#sink.patch(toolsTables.links, { link_id: linkId }, updated)
      return
    }
    const link: RowOf<typeof toolsTables.links> = {
      ...updated,
      link_id: linkId,
      created_at_time: timeMs,
      created_at_block: num,
      has_unknown_assets: false,
      creator: known.creator,
      public_key: known.key,
      memo: known.memo,
      asset_ids: known.asset_ids,
      collection_names: [],
    }
    if (announced !== null) this.#sink.insert(toolsTables.links, link)
    else this.#sink.upsert(toolsTables.links, link)
    this.#sink.recheck(linkCollections, linkId)
  }

  #log(event: ToolsAction, linkId: bigint): void {
    if (!this.#keepsLogs) return
    this.#transactions.add(event)
    const action = logCodes[event.name]
    this.#sink.append(toolsTables.logs, { seq: event.seq, subject: linkId, action })
  }

  #change(linkId: bigint): LinkChange {
    let change = this.#links.get(linkId)
    if (change === undefined) {
      change = { announced: null, row: null, outcome: null }
      this.#links.set(linkId, change)
    }
    return change
  }
}
