import { assetId } from './assets.ts'
import type { GeneratedAssets } from './assets.ts'
import type { ChainClock } from './chain-clock.ts'
import { blockTime } from './chain-clock.ts'
import type { Random } from './choice.ts'
import { arrayField } from './copy-sink.ts'
import type { RowSink } from './copy-sink.ts'
import { accountName } from './names.ts'

/** A generated offer: accounts by number, assets by position. */
interface GeneratedOffer {
  readonly id: number
  readonly sender: number
  readonly recipient: number
  readonly memo: string
  readonly given: readonly number[]
  readonly wanted: readonly number[]
  readonly createdBlock: number
}

/** Columns of `assets.offers`, in the order in which the fields are written. */
export const offerColumns = [
  'offer_id, created_at_time, updated_at_time, created_at_block, updated_at_block, state, sender, recipient, ram_payer, memo, sender_asset_ids, recipient_asset_ids, collection_names',
]

/** Codes of `assets.log_actions`: creation of an offer, and the states that end it. */
const CREATED = 10
const endings = [
  { state: 3, action: 11, share: 0.55 },
  { state: 4, action: 12, share: 0.1 },
  { state: 5, action: 13, share: 0.35 },
] as const

/** Inputs of the generator of offers. */
interface OfferSource {
  readonly clock: ChainClock
  readonly logs: RowSink
  readonly offers: RowSink
  readonly random: Random
}

/** All generated offers. The row of an offer is written when the offer ends; open offers are kept in memory. */
export class OfferBook {
  /** Number of offers created so far. */
  count = 0
  readonly #open: GeneratedOffer[] = []
  readonly #source: OfferSource
  readonly #collectionOf: (at: number) => string

  /** @param collectionOf returns the name of the collection of the asset at a position in `GeneratedAssets`. */
  constructor(source: OfferSource, collectionOf: (at: number) => string) {
    this.#source = source
    this.#collectionOf = collectionOf
  }

  open(terms: Pick<GeneratedOffer, 'sender' | 'recipient' | 'memo' | 'given' | 'wanted'>): void {
    const { clock, logs } = this.#source
    const id = ++this.count
    const seq = clock.next()
    this.#open.push({ id, ...terms, createdBlock: clock.block })
    logs.add([seq, id, CREATED, null, null])
  }

  /** Ends a random open offer; false if there is none. */
  close(): boolean {
    if (this.#open.length === 0) return false
    const { clock, logs, random } = this.#source
    const at = random.below(this.#open.length)
    const offer = this.#open[at]!
    this.#open[at] = this.#open[this.#open.length - 1]!
    this.#open.pop()
    let dice = random.fraction()
    const ending = endings.find(({ share }) => (dice -= share) < 0) ?? endings[0]
    logs.add([clock.next(), offer.id, ending.action, null, null])
    this.#write(offer, ending.state, clock.block)
    return true
  }

  /** Writes the open offers; an offer is invalid if a party no longer owns one of the assets that it has to give. */
  async end({ owner }: GeneratedAssets): Promise<void> {
    for (const offer of this.#open) {
      const isValid =
        offer.given.every((at) => owner[at] === offer.sender) &&
        offer.wanted.every((at) => owner[at] === offer.recipient)
      if (this.#write(offer, isValid ? 0 : 1, offer.createdBlock)) await this.#source.offers.flush()
    }
  }

  /** Yields the asset id and the offer id for each asset of each open offer. */
  *openAssets(): Generator<readonly [asset: number, offer: number]> {
    for (const { id, given, wanted } of this.#open) {
      for (const at of new Set([...given, ...wanted])) yield [assetId(at), id]
    }
  }

  #write(offer: GeneratedOffer, state: number, updatedBlock: number): boolean {
    const collections = new Set([...offer.given, ...offer.wanted].map((at) => this.#collectionOf(at)))
    return this.#source.offers.add([
      offer.id,
      blockTime(offer.createdBlock),
      blockTime(updatedBlock),
      offer.createdBlock,
      updatedBlock,
      state,
      accountName(offer.sender),
      accountName(offer.recipient),
      accountName(offer.sender),
      offer.memo,
      arrayField(offer.given.map(assetId)),
      arrayField(offer.wanted.map(assetId)),
      `{${[...collections].sort().join(',')}}`,
    ])
  }
}
