import { marketTables, toolsTables } from '../../../core/model/tables/index.ts'
import { nameToInt64, parseAsset } from '../../../core/antelope/index.ts'
import { BlockTransactions } from '../../handlers/index.ts'
import type { ActionEvent } from '../../handlers/index.ts'
import { EventLog, assetsLogCodes } from '../../handlers/assets/index.ts'
import type { StoredHistory } from '../../handlers/assets/index.ts'
import { MarketLog, marketLogCodes, royaltyLogCodes } from '../../handlers/market/index.ts'
import { toolsLogCodes } from '../../handlers/tools/index.ts'
import { CommitUnit } from '../../store/index.ts'
import { repairDeep, repairFloat } from './attribute-fixes.ts'
import type { PlacedEvent } from './bid-places.ts'
import type { Accounts } from '../reader-handlers.ts'
import type { OldPayout, OldTrace, OldTransfer } from './event-window.ts'
import type { MapPacker } from './packed-maps.ts'

/** Whether the reader stores the logs of each family, and the transfers of assets. */
export interface StoredEvents {
  readonly assets: StoredHistory
  readonly marketLogs: boolean
  readonly toolsLogs: boolean
}

/**
 * Data from the logs and bids of the source database, for later steps. The steps complete rows, check that rows exist,
 * and report unknown actions and attribute maps that could not be packed.
 */
export interface EventFacts {
  /** For each logged mint: asset id and global sequence of the mint. */
  readonly mints: (readonly [bigint, bigint])[]
  /** For each logged purchase with an oracle median: sale id and the median that the buyer passed to the contract. */
  readonly medians: (readonly [bigint, string])[]
  /** For each logged start of an auction: auction id and starting bid. */
  readonly startingBids: (readonly [bigint, bigint])[]
  /** For each bid and each logged action on an auction: auction id, block number and block time in ms. */
  readonly auctionChanges: (readonly [bigint, number, number])[]
  /**
   * For each logged creation of a template: template id and false. If the same transaction deleted the template,
   * another entry has the template id and true.
   */
  readonly templates: (readonly [bigint, boolean])[]
  /** For each action that set the media types of a schema: collection name and schema name. */
  readonly typedSchemas: (readonly [string, string])[]
  /**
   * For each logged creation of a collection or a schema: collection name and schema name. The schema name is null for
   * a collection.
   */
  readonly creations: (readonly [string, string | null])[]
  /** Number of actions that this version of Pronghorn does not know, by action name. */
  readonly unknown: Map<string, number>
  /** Number of logged attribute maps that could not be packed. */
  unpacked: number
}

const KIND_STEP = 20
const categoryNames = ['logroyfound', 'logroytempl', 'logroyattr', 'logroydust'] as const

/**
 * Converts events of the source database to rows of append-only tables, with the same log writers that the handlers
 * use.
 */
export class EventRows {
  readonly unit = new CommitUnit(false)
  readonly facts: EventFacts = {
    mints: [],
    medians: [],
    startingBids: [],
    auctionChanges: [],
    templates: [],
    typedSchemas: [],
    creations: [],
    unknown: new Map(),
    unpacked: 0,
  }
  readonly #accounts: Accounts
  readonly #stored: StoredEvents
  readonly #packer: MapPacker
  /** Ids of the templates that the current transaction created. */
  readonly #newTemplates = new Set<bigint>()

  constructor(accounts: Accounts, stored: StoredEvents, packer: MapPacker) {
    this.#accounts = accounts
    this.#stored = stored
    this.#packer = packer
  }

  /**
   * Converts the events of a time window to rows, which it adds to `unit`. Collects in `facts` the data that later
   * steps of the import need, such as the global sequences of mints.
   * @param events ascending by global sequence.
   */
  take(events: readonly PlacedEvent[]): void {
    let start = 0
    while (start < events.length) {
      let end = start + 1
      while (end < events.length && events[end]!.block === events[start]!.block) end++
      this.#block(events.slice(start, end))
      start = end
    }
  }

  #block(events: readonly PlacedEvent[]): void {
    const { block: num, timeMs } = events[0]!
    const info = { num, timeMs }
    const assets = new EventLog(info, this.unit, this.#stored.assets)
    const market = new MarketLog(info, this.unit, this.#stored.marketLogs)
    const tools = new BlockTransactions(info)
    let txIndex = -1
    let txid: Buffer | null = null
    for (const event of events) {
      if (txid === null || !event.txid.equals(txid)) {
        txIndex++
        txid = event.txid
        this.#newTemplates.clear()
      }
      const action: ActionEvent = {
        seq: event.seq,
        txIndex,
        txid,
        ordinal: 0,
        creatorOrdinal: 0,
        name: event.kind === 'trace' ? event.name : '',
        data: null,
        packed: new Uint8Array(0),
        actors: () => [],
      }
      if (event.kind === 'transfer') transferRow(assets, action, event)
      else if (event.kind === 'bid') {
        market.addTransaction(action)
        this.facts.auctionChanges.push([event.auctionId, event.block, event.timeMs])
        const { seq, auctionId, amount, account } = event
        this.unit.append(marketTables.bids, { seq, auction_id: auctionId, amount, account })
      } else if (event.kind === 'payout') this.#payout(market, action, event)
      else if (event.account === this.#accounts.assets) this.#assetsTrace(assets, action, event)
      else if (event.account === this.#accounts.market) this.#marketTrace(market, action, event)
      else this.#toolsTrace(tools, action, event)
    }
    assets.end()
    market.end()
    tools.end(toolsTables.blocks, this.unit)
  }

  #assetsTrace(log: EventLog, action: ActionEvent, trace: OldTrace): void {
    const data = repairDeep(trace.metadata) as Record<string, unknown>
    const id = (field: string) => BigInt(data[field] as string | number)
    const { collection_name: collection, template_id: template, ...rest } = data
    switch (trace.name) {
      case 'logmint':
        this.facts.mints.push([id('asset_id'), action.seq])
        return log.reserve(action)
      case 'logsetdata':
        return log.write(action, id('asset_id'), null, this.#pack(trace, data))
      case 'logsetdatatl':
        return log.write(
          action,
          id('template_id'),
          { schema_name: data.schema_name },
          this.#pack(trace, data),
        )
      case 'logburnasset':
        return log.write(action, id('asset_id'), {
          asset_owner: data.asset_owner,
          backed_tokens: data.backed_tokens,
        })
      case 'logbackasset':
        return log.write(action, id('asset_id'), { backed_token: data.backed_token })
      case 'logrampayer': {
        const { asset_id: _, ...payers } = data
        return log.write(action, id('asset_id'), payers)
      }
      case 'lognewoffer':
      case 'acceptoffer':
      case 'declineoffer':
      case 'canceloffer':
        return log.write(action, id('offer_id'), null)
      case 'setschematyp':
        this.facts.typedSchemas.push([String(collection), String(data.schema_name)])
        return log.write(action, nameToInt64(String(collection)), rest)
      case 'lognewtempl':
        this.facts.templates.push([id('template_id'), false])
        this.#newTemplates.add(id('template_id'))
        return log.write(action, id('template_id'), {
          authorized_creator: data.authorized_creator,
          max_supply: data.max_supply,
        })
      case 'deltemplate':
        if (this.#newTemplates.has(id('template_id'))) this.facts.templates.push([id('template_id'), true])
        return log.write(action, id('template_id'), rest)
      case 'locktemplate':
      case 'redtemplmax':
        return log.write(action, BigInt(template as string | number), rest)
      default:
        if (!(trace.name in assetsLogCodes) || typeof collection !== 'string') return this.#noteUnknown(trace)
        if (trace.name === 'createcol') this.facts.creations.push([collection, null])
        if (trace.name === 'createschema') this.facts.creations.push([collection, String(rest.schema_name)])
        if ('market_fee' in rest) rest.market_fee = repairFloat('double', rest.market_fee)
        return log.write(action, nameToInt64(collection), Object.keys(rest).length === 0 ? null : rest)
    }
  }

  #pack(trace: OldTrace, data: Record<string, unknown>): Uint8Array | null {
    const packed = this.#packer.pack(trace.block, trace.name, {
      old_data: data.old_data,
      new_data: data.new_data,
    })
    if (packed === null) this.facts.unpacked++
    return packed
  }

  #marketTrace(log: MarketLog, action: ActionEvent, trace: OldTrace): void {
    const data = trace.metadata
    // Skip royalty logs: the payouts of the source database contain the same data in full.
    if (trace.name in royaltyLogCodes) return
    if (!(trace.name in marketLogCodes)) return this.#noteUnknown(trace)
    if (trace.name === 'setdefmktcr' || trace.name === 'migratebal')
      return log.write(action, 0n, repairDeep(data) as Record<string, unknown>)
    const id = data.sale_id ?? data.auction_id ?? data.buyoffer_id
    if (id === undefined) return this.#noteUnknown(trace)
    const listing = BigInt(id as string | number)
    const median = data.intended_delphi_median
    if (trace.name === 'purchasesale' && (typeof median === 'string' || typeof median === 'number'))
      this.facts.medians.push([listing, String(median)])
    if (trace.name === 'lognewauct' && typeof data.starting_bid === 'string')
      this.facts.startingBids.push([listing, parseAsset(data.starting_bid).amount])
    if (data.auction_id !== undefined) this.facts.auctionChanges.push([listing, trace.block, trace.timeMs])
    return log.write(action, listing)
  }

  #payout(log: MarketLog, action: ActionEvent, payout: OldPayout): void {
    const name = categoryNames[payout.category - 1]
    log.addTransaction(action)
    this.unit.append(marketTables.royaltyPayouts, {
      seq: action.seq,
      payout_index: payout.index,
      category: payout.category,
      kind: payout.listingKind,
      template_id: payout.templateId,
      listing_id: payout.listingId,
      asset_id: payout.assetId,
      rule_id: payout.ruleId,
      amount: payout.amount,
      paid_at_time: payout.timeMs,
      token_symbol: payout.token,
      collection_name: payout.collection,
      recipient: payout.recipient,
    })
    if (payout.index === 0 && payout.listingId !== null && payout.listingKind > 0 && name !== undefined)
      log.writeCode(action, royaltyLogCodes[name] + (payout.listingKind - 1) * KIND_STEP, payout.listingId)
  }

  #toolsTrace(transactions: BlockTransactions, action: ActionEvent, trace: OldTrace): void {
    const code = toolsLogCodes[trace.name as keyof typeof toolsLogCodes] as number | undefined
    const id = trace.metadata.link_id
    if (code === undefined || id === undefined) return this.#noteUnknown(trace)
    if (!this.#stored.toolsLogs) return
    transactions.add(action)
    this.unit.append(toolsTables.logs, {
      seq: action.seq,
      subject: BigInt(id as string | number),
      action: code,
    })
  }

  #noteUnknown({ account, name }: OldTrace): void {
    const action = `${account}::${name}`
    this.facts.unknown.set(action, (this.facts.unknown.get(action) ?? 0) + 1)
  }
}

function transferRow(log: EventLog, action: ActionEvent, transfer: OldTransfer): void {
  log.transfer(action, {
    collection_name: transfer.collection ?? '',
    from: transfer.sender,
    to: transfer.recipient,
    asset_ids: transfer.assetIds,
    memo: transfer.memo,
  })
}
