/** Looks at something that changes; who asks while a look is under way gets what the next one sees. */
export class SharedLook<T> {
  readonly #look: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(look: () => Promise<T>) {
    this.#look = look
  }

  /** What a look sees that begins now or later. */
  see(): Promise<T> {
    if (!this.#running) return this.#start()
    const next = (): Promise<T> => this.#start()
    return (this.#next ??= this.#running.then(next, next))
  }

  #start(): Promise<T> {
    this.#next = undefined
    const running = this.#look().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
