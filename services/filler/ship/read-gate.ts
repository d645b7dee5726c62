import type { CreditWindow } from './credits.ts'

/** What can be read from, or not. */
interface Pausable {
  pause(): void
  resume(): void
}

/**
 * Stops reading from a node while too much is held. With credits, what is held stays within the budget while sizes are
 * steady, but the node decides the sizes of what it was granted before they were known.
 */
export class ReadGate {
  readonly #connection: Pausable
  readonly #credits: CreditWindow
  readonly #limitBytes: number
  #isPaused = false

  /** `budgetBytes` is what credits aim at; reading stops at twice of it. */
  constructor(connection: Pausable, credits: CreditWindow, budgetBytes: number) {
    this.#connection = connection
    this.#credits = credits
    this.#limitBytes = 2 * budgetBytes
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Looks at what is held now. */
  update(): void {
    const isOver = this.#credits.heldBytes >= this.#limitBytes
    if (isOver === this.#isPaused) return
    this.#isPaused = isOver
    if (isOver) this.#connection.pause()
    else this.#connection.resume()
  }
}
