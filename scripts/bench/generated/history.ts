import { assetId, GeneratedAssets, isTransferable, NONE } from './assets.ts'
import type { Catalogue, Template } from './catalogue.ts'
import type { ChainClock } from './chain-clock.ts'
import { Choice, falling } from './choice.ts'
import type { Random } from './choice.ts'
import type { RowSink } from './copy-sink.ts'
import { arrayField, bytesField } from './copy-sink.ts'
import { accountName, contractCount, hasCode, word } from './names.ts'
import { OfferBook } from './offers.ts'
import type { GeneratedSizes } from './sizes.ts'

/** Writers of transfers, logs and offers, one for each table. */
export interface HistorySinks {
  readonly transfers: RowSink
  readonly logs: RowSink
  readonly offers: RowSink
}

/**
 * Zipf exponent of the numbers of assets that accounts own. With 0.95, the richest 16.71 % of the accounts own about
 * 80.98 % of the assets, as Moonstream counted on Ethereum (2021, "On the Ethereum NFT market", 727,102 accounts).
 */
const WEALTH_EXPONENT = 0.95
/** Maximum number of consecutive mints of one template for one account. */
const LONGEST_RUN = 12

/** Codes of `assets.log_actions`. */
const codes = { burn: 2, setData: 4 } as const

/** Inputs of the generator of mints, transfers, edits, burns and offers. */
export interface HistorySource extends HistorySinks {
  readonly sizes: GeneratedSizes
  readonly clock: ChainClock
  readonly random: Random
}

/** Simulates the chain's history: mints, transfers, edits, burns and offers in one sequence. */
export class History {
  readonly assets: GeneratedAssets
  readonly offers: OfferBook
  readonly #catalogue: Catalogue
  readonly #sizes: GeneratedSizes
  readonly #clock: ChainClock
  readonly #sinks: HistorySinks
  readonly #random: Random
  readonly #byWealth: Choice
  readonly #byPopularity: Choice[]
  readonly #supply: Int32Array
  /** Number of minted templates with one asset. */
  #uniques = 0
  /** The current run of similar mints, and how many of them are left. */
  #run = { left: 0, collection: 0, schema: 0, template: NONE, receiver: 0, minter: 0 }

  constructor(catalogue: Catalogue, { sizes, clock, random, ...sinks }: HistorySource) {
    this.#catalogue = catalogue
    this.#sizes = sizes
    this.#clock = clock
    this.#sinks = sinks
    this.#random = random
    this.assets = new GeneratedAssets(sizes.assets)
    this.offers = new OfferBook({ clock, ...sinks, random }, (at) => this.#collectionOf(at))
    this.#byWealth = new Choice(falling(sizes.accounts - contractCount, WEALTH_EXPONENT), random)
    this.#byPopularity = catalogue.collections.map(
      ({ templates }) => new Choice(falling(templates.length, 0.8), random),
    )
    this.#supply = new Int32Array(catalogue.templates.length + 1)
  }

  /** Mints an asset. Like all event methods it returns whether the event happened. */
  mint(): boolean {
    if (this.#run.left === 0) this.#startRun()
    const { assets, run } = { assets: this.assets, run: this.#run }
    run.left--
    const at = assets.count++
    const seq = this.#clock.next()
    const block = this.#clock.block
    assets.owner[at] = run.receiver
    assets.receiver[at] = run.receiver
    assets.collection[at] = run.collection
    assets.schema[at] = run.schema
    assets.template[at] = run.template
    assets.mint[at] =
      run.template === NONE ? NONE : (this.#supply[run.template] = this.#supply[run.template]! + 1)
    assets.minter[at] = run.minter
    assets.mintedSeq[at] = seq
    for (const blocks of [assets.mintedBlock, assets.transferredBlock, assets.updatedBlock])
      blocks[at] = block
    // Assets of every third schema have mutable data.
    if (run.schema % 3 === 1) {
      assets.level[at] = 1
      assets.xp[at] = firstXp(at)
    }
    return true
  }

  transfer(): boolean {
    const first = this.#movable()
    if (first === undefined) return false
    const { assets } = this
    const moved = assets.run(first, this.#random.chance(0.06) ? this.#random.between(2, 10) : 1)
    const sender = assets.owner[first]!
    const recipient = this.anyone()
    const seq = this.#clock.next()
    for (const at of moved) {
      assets.owner[at] = recipient
      assets.transferredBlock[at] = assets.updatedBlock[at] = this.#clock.block
    }
    this.#sinks.transfers.add([
      seq,
      accountName(sender),
      accountName(recipient),
      this.#collectionOf(first),
      this.#memo(recipient, seq),
      arrayField(moved.map(assetId)),
    ])
    return true
  }

  edit(): boolean {
    const { assets } = this
    const at = this.#any()
    if (assets.isBurned(at) || assets.level[at] === 0) return false
    const seq = this.#clock.next()
    const before = packedLevel(assets.level[at]!, assets.xp[at]!)
    assets.level[at] = Math.min(assets.level[at]! + 1, MOST_LEVEL)
    assets.xp[at] = assets.xp[at]! + 1 + (seq % 1_000)
    assets.updatedBlock[at] = this.#clock.block
    this.#sinks.logs.add([
      seq,
      assetId(at),
      codes.setData,
      null,
      bytesField(before + packedLevel(assets.level[at], assets.xp[at])),
    ])
    return true
  }

  burn(): boolean {
    const { assets } = this
    const at = this.#any()
    const owner = assets.owner[at]!
    if (assets.isBurned(at) || this.#template(at)?.burnable === false) return false
    const seq = this.#clock.next()
    assets.owner[at] = ~owner
    assets.updatedBlock[at] = this.#clock.block
    const data = JSON.stringify({ asset_owner: accountName(owner), backed_tokens: [] })
    this.#sinks.logs.add([seq, assetId(at), codes.burn, data, null])
    return true
  }

  offer(): boolean {
    const first = this.#movable()
    if (first === undefined) return false
    const given = this.assets.run(first, this.#random.chance(0.2) ? 3 : 1)
    const sender = this.assets.owner[first]!
    if (this.#random.chance(0.6)) {
      this.offers.open({ sender, recipient: 0, memo: 'sale', given, wanted: [] })
      return true
    }
    const wanted = this.#movable()
    if (wanted === undefined) return false
    const memo = this.#random.chance(0.7) ? '' : `swap for a ${word(this.#random.below(900))}`
    const recipient = this.assets.owner[wanted]!
    this.offers.open({ sender, recipient, memo, given, wanted: this.#random.chance(0.5) ? [wanted] : [] })
    return true
  }

  /** Picks an account: often a rich account, sometimes a contract. */
  anyone(): number {
    return this.#random.chance(0.1)
      ? this.#random.below(contractCount)
      : contractCount + this.#byWealth.next()
  }

  /** Number of minted assets of each template, by template id. */
  get supply(): Int32Array {
    return this.#supply
  }

  #startRun(): void {
    const unique = this.#nextUnique()
    if (unique) {
      const { id, collection, schema } = unique
      const place = { collection, schema: this.#catalogue.collections[collection]!.schemas.indexOf(schema) }
      this.#run = { left: 1, ...place, template: id, receiver: this.anyone(), minter: 0 }
      return
    }
    const { collections, bySize } = this.#catalogue
    const progress = this.assets.count / this.#sizes.assets
    let collection = 0
    for (let tries = 0; tries < 30; tries++) {
      collection = bySize.next()
      const { from, to } = collections[collection]!
      if (progress >= from && progress < to) break
      collection = 0
    }
    const { templates, schemas } = collections[collection]!
    const template = this.#random.chance(0.06)
      ? undefined
      : templates[this.#byPopularity[collection]!.next()]!
    this.#run = {
      left: this.#random.between(1, LONGEST_RUN),
      collection,
      schema: template ? schemas.indexOf(template.schema) : this.#random.below(schemas.length),
      template: template?.id ?? NONE,
      receiver: this.anyone(),
      minter: this.#random.chance(0.85) ? 0 : 1,
    }
  }

  /**
   * The next template with one asset; undefined if the next mint is of another template. Draws with a probability that
   * spreads the templates with one asset evenly over the mints.
   */
  #nextUnique(): Template | undefined {
    const { uniques } = this.#catalogue
    const left = uniques.length - this.#uniques
    const others = this.#sizes.assets - this.assets.count - left
    const runs = left + Math.max(0, others) / ((1 + LONGEST_RUN) / 2)
    return left > 0 && this.#random.chance(left / runs) ? uniques[this.#uniques++] : undefined
  }

  #any(): number {
    const { count } = this.assets
    if (this.#random.chance(0.7)) return this.#random.below(count)
    return count - 1 - this.#random.below(Math.ceil(count / 10))
  }

  /** Picks a transferable asset; undefined if a few tries find none. */
  #movable(): number | undefined {
    for (let tries = 0; tries < 8; tries++) {
      const at = this.#any()
      if (!this.assets.isBurned(at) && isTransferable(this.#template(at))) return at
    }
    return undefined
  }

  #collectionOf(at: number): string {
    return this.#catalogue.collections[this.assets.collection[at]!]!.name
  }

  #template(at: number): Template | undefined {
    return this.#catalogue.templates[this.assets.template[at]! - 1]
  }

  #memo(recipient: number, seq: number): string {
    if (hasCode(recipient)) return this.#random.chance(0.5) ? 'deposit' : `stake:${word(seq & 0xff)}`
    const dice = this.#random.fraction()
    if (dice < 0.6) return ''
    if (dice < 0.75) return 'gift'
    if (dice < 0.9) return `Sale - ID #${seq}`
    return `${word(seq % 900)} for ${word(seq % 701)}`
  }
}

/** Largest value of the attribute `level`, which is a uint16. */
const MOST_LEVEL = 0xffff

/** Value of the attribute `xp` at the mint, 24 bits: distinct for the first 16,777,216 assets. */
function firstXp(at: number): number {
  return Math.imul(at, 0x9e_37_79_b1) & 0xff_ff_ff
}

/** Packed attribute map `{level, xp}` in hexadecimal. Variant 5 is uint16, 6 is uint32. */
function packedLevel(level: number, xp: number): string {
  const packed = Buffer.from([2, 5, ...Buffer.from('level'), 5, 0, 0, 2, ...Buffer.from('xp'), 6, 0, 0, 0, 0])
  packed.writeUInt16LE(level, 8)
  packed.writeUInt32LE(xp, 14)
  return packed.toString('hex')
}
