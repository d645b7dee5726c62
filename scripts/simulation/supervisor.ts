import { setTimeout as delay } from 'node:timers/promises'
import type { Lease } from './databases.ts'
import { LEASE_HELD, LEASE_LOST } from './excuses.ts'
import type { Life, LifeEnd } from './life.ts'

/** What a supervisor is given. */
export interface SupervisorOptions {
  /** Starts a filler. */
  readonly start: () => Promise<Life>
  /** Ends all database sessions of fillers. */
  readonly endSessions: () => Promise<unknown>
  /** The lease of the fillers' reader. */
  readonly lease: () => Promise<Lease>
  /** Codes with which a filler may end. */
  readonly excuses: ReadonlySet<string>
  readonly onViolation: (text: string) => void
  /** Called at each end by an error. */
  readonly onEnd: (end: LifeEnd) => void
}

const POLL_MS = 12
/** Pause before a filler that ended is started again. */
const RESTART_MS = 10
/** Longest time for a filler to end once it was asked to. */
const END_MS = 300_000
/** How long a filler hangs while another takes its place, and continues afterwards. */
const HANG_MS = 20
const AFTERLIFE_MS = 30
/** Longest time of a filler beside one that holds the lease, above the wait for the lease. */
const RIVAL_MS = 3_000
/** Looks at the lease until a new holder has it. */
const LOOKS = 250
/** Longest time in which a filler without its lease notices. */
const DISPLACED_MS = 8_000

/** Keeps one filler running, as a service manager does, and ends it in every manner. */
export class Supervisor {
  /** The present one; null between two. */
  life: Life | null = null
  readonly #options: SupervisorOptions
  readonly #replaced: Life[] = []
  #watching: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const life = await this.#options.start()
    this.life = life
    this.#watching = this.#watch(life)
    if (this.#isOver) life.kill()
  }

  /** SIGTERM; nothing is started afterwards. */
  async stop(): Promise<void> {
    const life = await this.#take()
    life.stop()
    if (!(await endsInTime(life))) {
      this.#options.onViolation('the filler does not end when it is asked to')
      life.kill()
    }
    const { code, text } = await life.ended
    if (code !== null && !this.#options.excuses.has(code))
      this.#options.onViolation(`asked to end, the filler ended with ${text}`)
  }

  /** SIGKILL; nothing is started afterwards. */
  async kill(): Promise<void> {
    const life = await this.#take()
    life.kill()
    if (!(await endsInTime(life))) this.#options.onViolation('a filler without connections does not end')
  }

  /** The filler hangs, its sessions are ended, another begins; then it continues for a while. */
  async replace(): Promise<void> {
    const old = await this.#take()
    old.proxy.freeze()
    await this.#options.endSessions()
    await this.start()
    this.#replaced.push(old)
    setTimeout(() => {
      old.proxy.thaw()
      setTimeout(() => old.stop(), AFTERLIFE_MS)
    }, HANG_MS)
  }

  /**
   * Starts a filler beside the present one, which holds the lease. Unless the present one ends meanwhile, the rival has to end
   * because the lease is held.
   */
  async meetRival(isHindered: boolean): Promise<void> {
    const present = this.life
    const rival = await this.#options.start()
    this.#replaced.push(rival)
    const end = await endOf(rival, RIVAL_MS)
    if (end === null) rival.kill()
    await rival.proxy.close()
    if (end?.code !== LEASE_HELD && !isHindered && present !== null && present === this.life)
      this.#options.onViolation(`beside a filler with the lease, a second one ${describeEnd(end)}`)
  }

  /**
   * Starts a filler that takes the lease from the present one, whose session lost its lock. Unless something hinders the
   * first one, it has to end because its lease is lost once `grow` gave it something to write.
   */
  async displace(isHindered: boolean, grow: () => boolean): Promise<void> {
    const { fence } = await this.#options.lease()
    const old = await this.#take()
    this.#replaced.push(old)
    await this.start()
    for (let left = LOOKS; left > 0 && (await this.#options.lease()).fence === fence; left--)
      await delay(POLL_MS)
    const hasWork = grow()
    const end = await endOf(old, DISPLACED_MS)
    if (end === null) old.kill()
    await old.proxy.close()
    const isExcused = end?.code === LEASE_LOST || this.#options.excuses.has(end?.code ?? '')
    if (hasWork && !isHindered && !isExcused)
      this.#options.onViolation(`a filler without its lease ${describeEnd(end)}`)
  }

  /** Ends those that others took the place of. */
  killReplaced(): void {
    for (const life of this.#replaced) life.kill()
  }

  /** Ends everything, whatever the state. */
  async end(): Promise<void> {
    this.#isOver = true
    this.life?.kill()
    this.killReplaced()
    // One that was about to begin has its own watch.
    let watched: Promise<void>
    do {
      watched = this.#watching
      await watched
    } while (watched !== this.#watching)
    await Promise.all(this.#replaced.map(({ ended }) => ended))
  }

  async #watch(life: Life): Promise<void> {
    const end = await life.ended
    await life.proxy.close()
    if (this.life !== life || this.#isOver) return
    this.life = null
    this.#options.onEnd(end)
    if (end.code === null) this.#options.onViolation('the filler ended by itself')
    else if (!this.#options.excuses.has(end.code))
      this.#options.onViolation(`the filler ended with ${end.text}`)
    await delay(RESTART_MS)
    await this.#restart()
  }

  async #restart(): Promise<void> {
    if (!this.#isOver) await this.start()
  }

  /** Takes the present one from the watch. */
  async #take(): Promise<Life> {
    while (this.life === null) await delay(POLL_MS)
    const { life } = this
    this.life = null
    return life
  }
}

async function endsInTime(life: Life): Promise<boolean> {
  return (await endOf(life, END_MS)) !== null
}

/** How a life ends within so many milliseconds; null when it does not. */
async function endOf(life: Life, ms: number): Promise<LifeEnd | null> {
  const giveUp = new AbortController()
  const late = delay(ms, null, { signal: giveUp.signal }).catch(() => null)
  const end = await Promise.race([life.ended, late])
  giveUp.abort()
  return end
}

function describeEnd(end: LifeEnd | null): string {
  return end === null ? 'continues' : `ended with ${end.text}`
}
