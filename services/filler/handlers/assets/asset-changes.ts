import { attributeMapToJson, attributesToJsonText } from '../../../core/antelope/attributes/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo } from '../handler.ts'
import type { AttributeMap, LogBurn, LogMint, LogSetData, LogTransfer } from './contract.ts'
import { tables } from './tables.ts'
import type { AssetRow, JsonText } from './tables.ts'

/**
 * Changes of an asset in the current block. `minted` is the full row if the block minted the asset; `changes` has the
 * changed columns.
 */
export interface AssetChange {
  readonly minted: AssetRow | null
  readonly changes: Partial<AssetRow>
  /** Whether an action may have changed the RAM payer of the asset's row. */
  payerMayChange: boolean
}

/** Collection, schema and template of an asset; without a template, `template_id` is negative. */
type AssetKind = Pick<LogMint | LogBurn, 'collection_name' | 'schema_name' | 'template_id'>

/** Attribute map as JSON text, or null when empty. */
export function mapToJsonText(map: AttributeMap): JsonText | null {
  return map.length === 0 ? null : attributesToJsonText(attributeMapToJson(map))
}

/**
 * Collects the effects of a block's actions on assets. Passes the asset rows to the sink at the end of the block: mint
 * numbers are computed from the supply of the template, which only the contract rows after the actions contain.
 */
export class AssetChanges {
  readonly #assets = new Map<bigint, AssetChange>()
  /** Mints of the current block by template, in order of execution. */
  readonly #mints = new Map<number, AssetRow[]>()
  readonly #block: BlockInfo
  readonly #sink: RowSink

  constructor(block: BlockInfo, sink: RowSink) {
    this.#block = block
    this.#sink = sink
  }

  /** @param seq global sequence of the `logmint` action; null if logs are not stored. */
  mint(log: LogMint, seq: bigint | null): void {
    const { num, timeMs } = this.#block
    const row: AssetRow = {
      asset_id: log.asset_id,
      minted_at_time: timeMs,
      transferred_at_time: timeMs,
      updated_at_time: timeMs,
      burned_at_time: null,
      minted_seq: seq,
      minted_at_block: num,
      transferred_at_block: num,
      updated_at_block: num,
      burned_at_block: null,
      template_id: log.template_id < 0 ? null : log.template_id,
      template_mint: null,
      collection_name: log.collection_name,
      schema_name: log.schema_name,
      owner: log.new_asset_owner,
      ram_payer: null,
      minter: log.authorized_minter,
      initial_receiver: log.new_asset_owner,
      burned_by_account: null,
      immutable_data: mapToJsonText(log.immutable_data),
      mutable_data: mapToJsonText(log.mutable_data),
    }
    this.#assets.set(log.asset_id, { minted: row, changes: row, payerMayChange: true })
    if (row.template_id !== null) {
      const mints = this.#mints.get(row.template_id)
      if (mints) mints.push(row)
      else this.#mints.set(row.template_id, [row])
    }
    this.#own(log.new_asset_owner, log.collection_name, 1n)
    this.#count(log, 1n, 0n)
  }

  transfer(log: LogTransfer): void {
    const { num, timeMs } = this.#block
    for (const assetId of log.asset_ids) {
      const { changes } = this.#change(assetId)
      changes.owner = log.to
      changes.transferred_at_time = timeMs
      changes.transferred_at_block = num
      changes.updated_at_time = timeMs
      changes.updated_at_block = num
    }
    const moved = BigInt(log.asset_ids.length)
    this.#own(log.from, log.collection_name, -moved)
    this.#own(log.to, log.collection_name, moved)
  }

  burn(log: LogBurn): void {
    const { num, timeMs } = this.#block
    Object.assign(this.#change(log.asset_id).changes, {
      owner: null,
      burned_by_account: log.asset_owner,
      burned_at_time: timeMs,
      burned_at_block: num,
      updated_at_time: timeMs,
      updated_at_block: num,
    })
    this.#own(log.asset_owner, log.collection_name, -1n)
    this.#sink.add(tables.burners, { account: log.asset_owner, assets: 1n })
    this.#count(log, 0n, 1n)
  }

  setData(log: LogSetData): void {
    const change = this.#change(log.asset_id)
    change.payerMayChange = true
    change.changes.mutable_data = mapToJsonText(log.new_data)
    change.changes.updated_at_time = this.#block.timeMs
    change.changes.updated_at_block = this.#block.num
  }

  /** Marks that the RAM payer may have changed. The contract row, which comes after the actions, contains the payer. */
  touchPayer(assetId: bigint): void {
    this.#change(assetId).payerMayChange = true
  }

  /** Changes of an asset in this block; undefined if there are none. */
  find(assetId: bigint): AssetChange | undefined {
    return this.#assets.get(assetId)
  }

  /**
   * Numbers the template's mints of this block. On chain, each mint raises the supply by one and nothing lowers the
   * supply, so the supply at the end of the block is the number of the block's last mint.
   */
  numberMints(templateId: number, issuedSupply: number): void {
    const mints = this.#mints.get(templateId)
    if (!mints) return
    const first = issuedSupply - mints.length + 1
    for (let i = 0; i < mints.length; i++) mints[i]!.template_mint = first + i
  }

  /** Passes the minted assets and the changed columns of other assets to the sink. */
  end(): void {
    for (const [assetId, change] of this.#assets) {
      if (change.minted) this.#sink.insert(tables.assets, change.minted)
      else if (Object.keys(change.changes).length > 0)
        this.#sink.patch(tables.assets, { asset_id: assetId }, change.changes)
    }
  }

  #change(assetId: bigint): AssetChange {
    let change = this.#assets.get(assetId)
    if (!change) {
      change = { minted: null, changes: {}, payerMayChange: false }
      this.#assets.set(assetId, change)
    }
    return change
  }

  /** Adds `assets` (negative to subtract) to the account's asset counts, in total and in the collection. */
  #own(account: string, collection: string, assets: bigint): void {
    this.#sink.add(tables.accounts, { account, assets })
    this.#sink.add(tables.collectionAccounts, { collection_name: collection, account, assets })
  }

  /** Adds mints and burns to the counters of a collection, schema and template. */
  #count({ collection_name, schema_name, template_id }: AssetKind, minted: bigint, burned: bigint): void {
    this.#sink.add(tables.collectionCounts, { collection_name, minted, burned })
    this.#sink.add(tables.schemaCounts, { collection_name, schema_name, minted, burned })
    if (template_id >= 0) this.#sink.add(tables.templateCounts, { template_id, minted, burned })
  }
}
