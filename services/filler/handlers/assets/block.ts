import { nameToInt64 } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo, BlockScope, Named } from '../handler.ts'
import { AssetChanges, mapToJsonText } from './asset-changes.ts'
import type * as contract from './contract.ts'
import type { AssetsAction } from './contract.ts'
import { ContractRows } from './contract-rows.ts'
import type { RowsStart } from './contract-rows.ts'
import { EventLog } from './event-log.ts'
import type { StoredHistory } from './event-log.ts'
import { OfferChanges, offerStates, offerValidity } from './offer-changes.ts'
import type { AssetsState } from './state.ts'
import { tables } from './tables.ts'

/** Number of bytes before the two maps in a packed `logsetdata`: owner (8), asset id (8). */
const SET_DATA_HEAD = 16
/** Number of bytes before the two maps in a packed `logsetdatatl`: collection (8), schema (8), template id (4). */
const SET_TEMPLATE_DATA_HEAD = 20

interface AssetsBlockStart extends RowsStart {
  readonly stored: StoredHistory
}

/** Applies one block of the assets contract. */
export class AssetsBlock implements BlockScope<AssetsState, AssetsAction, contract.AssetsRowEvent> {
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #warn: (message: string) => void
  readonly #assets: AssetChanges
  readonly #offers: OfferChanges
  readonly #log: EventLog
  readonly #rows: ContractRows
  /**
   * Collection rows of the block, handled last: decoding their data needs the collection format at the end of the
   * block.
   */
  readonly #collections: contract.CollectionState[] = []
  readonly #swapEvents: contract.SwapEvent[] = []
  readonly #swapsSet = new Map<string, contract.AuthorSwapState>()
  readonly #swapsEnded = new Map<string, contract.AuthorSwapState>()

  constructor(start: AssetsBlockStart) {
    const { block, sink, stored, warn } = start
    this.#block = block
    this.#sink = sink
    this.#warn = warn
    this.#assets = new AssetChanges(block, sink)
    this.#offers = new OfferChanges(block, sink)
    this.#log = new EventLog(block, sink, stored)
    this.#rows = new ContractRows(start)
  }

  action(event: AssetsAction): void {
    switch (event.name) {
      case 'logmint':
        return this.#logMint(event)
      case 'logtransfer':
        return this.#logTransfer(event)
      case 'logsetdata':
        return this.#logSetData(event)
      case 'logburnasset':
        return this.#logBurn(event)
      case 'logbackasset':
        return this.#logBackAsset(event)
      case 'logrampayer':
        return this.#logRamPayer(event)
      case 'lognewoffer':
        return this.#logNewOffer(event)
      case 'acceptoffer':
        return this.#closeOffer(event, offerStates.accepted)
      case 'declineoffer':
        return this.#closeOffer(event, offerStates.declined)
      case 'canceloffer':
        return this.#closeOffer(event, offerStates.cancelled)
      case 'lognewtempl':
        return this.#logNewTemplate(event)
      case 'logsetdatatl':
        return this.#logSetTemplateData(event)
      case 'createauswap':
      case 'acceptauswap':
      case 'rejectauswap':
        return this.#swapAction(event)
      case 'locktemplate':
      case 'deltemplate':
      case 'redtemplmax':
        return this.#templateAction(event)
      default:
        return this.#log.writeForCollection(event, event.data)
    }
  }

  row(event: contract.AssetsRowEvent): void {
    switch (event.table) {
      case 'assets':
        return this.#assetRow(event)
      case 'templates':
        return this.#templateRow(event.value(), event.present)
      case 'offers':
        return this.#offers.row(event.value(), event.present)
      case 'balances':
        return this.#rows.balances(event.value(), event.present)
      case 'schemas':
        return this.#rows.schemas(event)
      case 'schematypes':
        return this.#rows.schemaTypes(event)
      case 'authorswaps':
        return this.#authorSwapRow(event.value(), event.present)
      case 'collections':
        if (event.present) this.#collections.push(event.value())
        return
      case 'config':
        if (event.present) this.#rows.config(event.value())
        return
      case 'tokenconfigs':
        if (event.present) this.#rows.tokenConfigs(event.value())
        return
      default:
        return
    }
  }

  end(): AssetsState {
    for (const collection of this.#collections) this.#rows.collections(collection)
    for (const event of this.#swapEvents) this.#completeSwapLog(event)
    this.#rows.end()
    this.#assets.end()
    this.#log.end()
    return this.#rows.state
  }

  #logMint(event: Named<AssetsAction, 'logmint'>): void {
    const log = event.data
    this.#assets.mint(log, this.#log.keepsLogs ? event.seq : null)
    // Add the transaction, but no log row: the row of the asset already stores global sequence, minter and receiver of
    // the mint.
    this.#log.reserve(event)
  }

  #logTransfer(event: Named<AssetsAction, 'logtransfer'>): void {
    const log = event.data
    this.#assets.transfer(log)
    for (const assetId of log.asset_ids) this.#sink.recheck(offerValidity, assetId)
    this.#log.transfer(event, log)
  }

  #logSetData(event: Named<AssetsAction, 'logsetdata'>): void {
    const log = event.data
    this.#assets.setData(log)
    this.#log.write(event, log.asset_id, null, event.packed.subarray(SET_DATA_HEAD))
  }

  #logBurn(event: Named<AssetsAction, 'logburnasset'>): void {
    const log = event.data
    this.#assets.burn(log)
    this.#sink.recheck(offerValidity, log.asset_id)
    this.#log.write(event, log.asset_id, { asset_owner: log.asset_owner, backed_tokens: log.backed_tokens })
  }

  #logBackAsset(event: Named<AssetsAction, 'logbackasset'>): void {
    const log = event.data
    this.#assets.touchPayer(log.asset_id)
    this.#rows.backAsset(log)
    this.#log.write(event, log.asset_id, { backed_token: log.backed_token })
  }

  #logRamPayer(event: Named<AssetsAction, 'logrampayer'>): void {
    const log = event.data
    this.#assets.touchPayer(log.asset_id)
    const { asset_id: assetId, ...data } = log
    this.#log.write(event, assetId, data)
  }

  #logNewOffer(event: Named<AssetsAction, 'lognewoffer'>): void {
    const log = event.data
    this.#offers.create(log)
    this.#log.write(event, log.offer_id, null)
  }

  #closeOffer(event: contract.OfferEnd, state: number): void {
    const { offer_id: offerId } = event.data
    this.#offers.close(offerId, state)
    this.#log.write(event, offerId, null)
  }

  #logNewTemplate(event: Named<AssetsAction, 'lognewtempl'>): void {
    const log = event.data
    this.#sink.insert(tables.templates, {
      template_id: log.template_id,
      created_at_block: this.#block.num,
      created_at_time: this.#block.timeMs,
      deleted_at_time: null,
      deleted_at_block: null,
      max_supply: log.max_supply,
      issued_supply: 0,
      transferable: log.transferable,
      burnable: log.burnable,
      collection_name: log.collection_name,
      schema_name: log.schema_name,
      immutable_data: mapToJsonText(log.immutable_data) ?? '{}',
      mutable_data: null,
    })
    this.#log.write(event, BigInt(log.template_id), {
      authorized_creator: log.authorized_creator,
      max_supply: log.max_supply,
    })
  }

  #logSetTemplateData(event: Named<AssetsAction, 'logsetdatatl'>): void {
    const log = event.data
    this.#sink.patch(
      tables.templates,
      { template_id: log.template_id },
      { mutable_data: mapToJsonText(log.new_data) },
    )
    const packed = event.packed.subarray(SET_TEMPLATE_DATA_HEAD)
    this.#log.write(event, BigInt(log.template_id), { schema_name: log.schema_name }, packed)
  }

  /** Takes the RAM payer from the contract row; the actions have already supplied all other columns. */
  #assetRow(event: Extract<contract.AssetsRowEvent, { table: 'assets' }>): void {
    if (!event.present) return
    const change = this.#assets.find(event.primaryKey())
    if (!change) this.#warn('an asset row changed without a known action')
    else if (change.payerMayChange) change.changes.ram_payer = event.value().ram_payer
  }

  #templateRow(value: contract.TemplateState, present: boolean): void {
    if (!present) return this.#deleteTemplate(value.template_id)
    this.#assets.numberMints(value.template_id, value.issued_supply)
    this.#sink.patch(
      tables.templates,
      { template_id: value.template_id },
      {
        max_supply: value.max_supply,
        issued_supply: value.issued_supply,
        transferable: value.transferable,
        burnable: value.burnable,
      },
    )
  }

  #deleteTemplate(templateId: number): void {
    const deleted = {
      deleted_at_time: this.#block.timeMs,
      deleted_at_block: this.#block.num,
      mutable_data: null,
    }
    this.#sink.patch(tables.templates, { template_id: templateId }, deleted)
  }

  #swapAction(event: contract.SwapEvent): void {
    this.#log.reserve(event)
    this.#swapEvents.push(event)
  }

  #templateAction(event: contract.TemplateEvent): void {
    const { collection_name: _collection, template_id: templateId, ...rest } = event.data
    // Mark the template as deleted already at the action: if one block creates and deletes a template, the deltas
    // contain no row of the template.
    if (event.name === 'deltemplate') this.#deleteTemplate(templateId)
    this.#log.write(event, BigInt(templateId), rest)
  }

  #authorSwapRow(value: contract.AuthorSwapState, present: boolean): void {
    this.#rows.authorSwaps(value, present)
    ;(present ? this.#swapsSet : this.#swapsEnded).set(value.collection_name, value)
  }

  /**
   * Writes the log of an author swap action. The action data omit the authors and the acceptance date. The contract row
   * of the swap contains both.
   */
  #completeSwapLog(event: contract.SwapEvent): void {
    const { collection_name: collection } = event.data
    const subject = nameToInt64(collection)
    if (event.name === 'createauswap') {
      const { new_author, owner } = event.data
      const date = this.#swapsSet.get(collection)?.acceptance_date
      this.#log.complete(event, subject, {
        new_author,
        owner,
        ...(date === undefined ? {} : { acceptance_date: date }),
      })
      return
    }
    const actor = event.actors()[0]
    this.#log.complete(event, subject, {
      ...this.#endedSwap(event),
      ...(actor === undefined ? {} : { actor }),
    })
  }

  /**
   * Returns new and prior author of an accepted or rejected author swap. If the same block created the swap, the block
   * has no contract row of the swap. The prior author is then the account that created the swap.
   */
  #endedSwap({ seq, data }: contract.SwapEvent): Record<string, string> {
    const { collection_name: collection } = data
    const swap = this.#swapsEnded.get(collection)
    if (swap) return { new_author: swap.new_author, prior_author: swap.current_author }
    const created = this.#swapEvents.findLast(
      (event) =>
        event.name === 'createauswap' && event.seq < seq && event.data.collection_name === collection,
    )
    const author = created?.actors()[0]
    if (created?.name !== 'createauswap' || author === undefined) return {}
    return { new_author: created.data.new_author, prior_author: author }
  }
}
