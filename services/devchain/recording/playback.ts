import type { Chain } from '../chain/index.ts'
import type { Recording, RecordedMessage } from './read.ts'

/**
 * Plays recordings into a chain message by message: heads, last irreversible blocks and forks occur as they were
 * recorded.
 */
export class Playback {
  readonly #chain: Chain
  readonly #messages: readonly RecordedMessage[]
  #next = 0

  constructor(chain: Chain, recordings: readonly Recording[]) {
    this.#chain = chain
    this.#messages = recordings.flatMap((recording) => recording.messages)
  }

  /** Whether no message has been played yet. */
  get untouched(): boolean {
    return this.#next === 0
  }

  /** Whether all messages have been played. */
  get done(): boolean {
    return this.#next === this.#messages.length
  }

  /** Plays the next message; false if there is none. */
  advance(): boolean {
    const message = this.#messages[this.#next]
    if (message === undefined) return false
    this.#next++
    this.#chain.rewindTo(message.block.num - 1)
    this.#chain.push(message.block)
    return true
  }

  /** Plays the remaining messages of the recordings into the chain. */
  finish(): void {
    while (this.advance());
  }
}
