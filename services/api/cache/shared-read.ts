/** Shares reads of a changing value: callers during a read get the result of the next one. */
export class SharedRead<T> {
  readonly #read: () => Promise<T>
  #running: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(read: () => Promise<T>) {
    this.#read = read
  }

  /** Result of a read that begins now or later. */
  read(): Promise<T> {
    if (!this.#running) return this.#start()
    const next = (): Promise<T> => this.#start()
    return (this.#next ??= this.#running.then(next, next))
  }

  #start(): Promise<T> {
    this.#next = undefined
    const running = this.#read().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
