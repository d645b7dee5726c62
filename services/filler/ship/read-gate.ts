import type { CreditWindow } from './credits.ts'

/** A connection whose reading can be paused. */
interface Pausable {
  pause(): void
  resume(): void
}

/**
 * Stops reading from a node while too many bytes are held. Credits limit the held bytes only while message sizes are
 * steady: with credits that were granted before, the node may send larger messages.
 */
export class ReadGate {
  readonly #connection: Pausable
  readonly #credits: CreditWindow
  readonly #limitBytes: number
  #isPaused = false

  /** `budgetBytes` is the byte budget of the credits; reading stops at twice the budget. */
  constructor(connection: Pausable, credits: CreditWindow, budgetBytes: number) {
    this.#connection = connection
    this.#credits = credits
    this.#limitBytes = 2 * budgetBytes
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Pauses or resumes the connection according to the bytes held now. */
  update(): void {
    const isOver = this.#credits.heldBytes >= this.#limitBytes
    if (isOver === this.#isPaused) return
    this.#isPaused = isOver
    if (isOver) this.#connection.pause()
    else this.#connection.resume()
  }
}
