import { assetId } from './assets.ts'
import type { GeneratedAssets } from './assets.ts'
import type { ChainClock } from './chain-clock.ts'
import type { Random } from './choice.ts'
import type { CopySink } from './copy-sink.ts'

/** A generated offer: accounts by number, assets by position. */
export interface GeneratedOffer {
  readonly id: number
  readonly sender: number
  readonly recipient: number
  readonly memo: string
  readonly given: readonly number[]
  readonly wanted: readonly number[]
  readonly createdBlock: number
  updatedBlock: number
  state: number
}

/** Codes of `assets.log_actions`: creation of an offer, and the states that end it. */
const CREATED = 10
const endings = [
  { state: 3, action: 11, share: 0.55 },
  { state: 4, action: 12, share: 0.1 },
  { state: 5, action: 13, share: 0.35 },
] as const

/** All generated offers. */
export class OfferBook {
  readonly all: GeneratedOffer[] = []
  readonly #open: GeneratedOffer[] = []
  readonly #clock: ChainClock
  readonly #logs: CopySink
  readonly #random: Random

  constructor(clock: ChainClock, logs: CopySink, random: Random) {
    this.#clock = clock
    this.#logs = logs
    this.#random = random
  }

  open(terms: Pick<GeneratedOffer, 'sender' | 'recipient' | 'memo' | 'given' | 'wanted'>): void {
    const id = this.all.length + 1
    const seq = this.#clock.next()
    const block = this.#clock.block
    const offer = { id, ...terms, createdBlock: block, updatedBlock: block, state: 0 }
    this.all.push(offer)
    this.#open.push(offer)
    this.#logs.add([seq, id, CREATED, null, null])
  }

  /** Ends a random open offer; false if there is none. */
  close(): boolean {
    if (this.#open.length === 0) return false
    const at = this.#random.below(this.#open.length)
    const offer = this.#open[at]!
    this.#open[at] = this.#open[this.#open.length - 1]!
    this.#open.pop()
    let dice = this.#random.fraction()
    const ending = endings.find(({ share }) => (dice -= share) < 0) ?? endings[0]
    const seq = this.#clock.next()
    offer.state = ending.state
    offer.updatedBlock = this.#clock.block
    this.#logs.add([seq, offer.id, ending.action, null, null])
    return true
  }

  /** Marks open offers as invalid if an asset has left its side. */
  validate({ owner }: GeneratedAssets): void {
    for (const offer of this.#open) {
      const isValid =
        offer.given.every((at) => owner[at] === offer.sender) &&
        offer.wanted.every((at) => owner[at] === offer.recipient)
      offer.state = isValid ? 0 : 1
    }
  }

  /** All pairs of asset and open offer. */
  *openAssets(): Generator<readonly [asset: number, offer: number]> {
    for (const { id, given, wanted } of this.#open) {
      for (const at of new Set([...given, ...wanted])) yield [assetId(at), id]
    }
  }
}
