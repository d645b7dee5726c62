import type { ClientTurns } from './client-turns.ts'

/** A client whose waiting messages exceed this number of bytes may send no further message. */
export const MAX_WAITING_BYTES = 2 * 1024 * 1024
/** A turn of a client ends after the message during which this time passes, ms. */
const TURN_MS = 2

export interface InboxOptions<Message> {
  /** Turns of all clients. */
  readonly turns: ClientTurns
  /** IPv4 address or IPv6 network by which the connections of the client are counted. */
  readonly address: string
  /** Waits until the client has read what it was sent. Returns false if it stops reading or disconnects. */
  readonly isRead: () => Promise<boolean>
  readonly handle: (message: Message) => void
  /** Called when no more messages wait. */
  readonly onEmpty?: () => void
}

/**
 * Messages of one client that wait to be handled. The clients take turns, and the event loop handles other requests
 * between two turns, because a message of 64 KiB may take 7 ms. A client that does not read the answers to its messages
 * has no turn.
 */
export class Inbox<Message> {
  readonly #options: InboxOptions<Message>
  #waiting: { readonly message: Message; readonly bytes: number }[] = []
  #bytes = 0
  #isTaking = false

  constructor(options: InboxOptions<Message>) {
    this.#options = options
  }

  /** Adds a message. Returns false and drops the message if too many bytes wait. */
  put(message: Message, bytes: number): boolean {
    if (this.#bytes > MAX_WAITING_BYTES) return false
    this.#waiting.push({ message, bytes })
    this.#bytes += bytes
    if (!this.#isTaking) void this.#take()
    return true
  }

  async #take(): Promise<void> {
    const { turns, address, isRead, onEmpty } = this.#options
    this.#isTaking = true
    while (this.#waiting.length > 0) {
      if (await isRead()) {
        await new Promise<void>((resolve) => {
          turns.ask(address, async () => {
            this.#handleSome()
            resolve()
            await Promise.resolve()
          })
        })
      } else {
        this.#waiting = []
        this.#bytes = 0
      }
    }
    this.#isTaking = false
    onEmpty?.()
  }

  #handleSome(): void {
    const endMs = performance.now() + TURN_MS
    do {
      const next = this.#waiting.shift()
      if (!next) return
      this.#bytes -= next.bytes
      this.#options.handle(next.message)
    } while (performance.now() < endMs)
  }
}
