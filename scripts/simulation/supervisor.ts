import { setTimeout as delay } from 'node:timers/promises'
import type { Lease } from './databases.ts'
import { LEASE_HELD, LEASE_LOST } from './excuses.ts'
import type { Life, LifeEnd } from './life.ts'

export interface SupervisorOptions {
  /** Starts a filler. */
  readonly start: () => Promise<Life>
  /** Terminates all database sessions of fillers. */
  readonly endSessions: () => Promise<unknown>
  /** Reads the lease of the supervised filler's reader. */
  readonly lease: () => Promise<Lease>
  /** Error codes with which a filler may currently exit. */
  readonly excuses: ReadonlySet<string>
  readonly onViolation: (text: string) => void
  /** Called when the filler exits on its own, usually by an error. */
  readonly onEnd: (end: LifeEnd) => void
}

const POLL_MS = 12
/** Pause before an exited filler is restarted, ms. */
const RESTART_MS = 10
/** Time limit for a filler to stop, ms. */
const END_MS = 300_000
/** How long `replace` lets the old filler hang, ms. */
const HANG_MS = 20
/** Time from the end of the hang of the old filler to its SIGTERM, ms. The old filler runs during this time. */
const AFTERLIFE_MS = 30
/** Maximum number of polls until a second filler, which waits for the lease, gives up. */
const RIVAL_POLLS = 320
/** Maximum number of polls until a new holder has the lease. */
const LOOKS = 250
/** Maximum number of polls until a filler has noticed the loss of its lease. */
const DISPLACED_POLLS = 700

/** Keeps one filler running, like a service manager, and ends it in different ways. */
export class Supervisor {
  /** The filler's current run; null between two runs. */
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

  /** Stops the filler (SIGTERM) without a restart. */
  async stop(): Promise<void> {
    const life = await this.#take()
    life.stop()
    if (!(await endsInTime(life))) {
      this.#options.onViolation('the filler did not exit in time after SIGTERM')
      life.kill()
    }
    const { code, text } = await life.ended
    if (code !== null && !this.#options.excuses.has(code))
      this.#options.onViolation(`after SIGTERM, the filler exited with ${text}`)
  }

  /** Kills the filler (SIGKILL) without a restart. */
  async kill(): Promise<void> {
    const life = await this.#take()
    life.kill()
    if (!(await endsInTime(life)))
      this.#options.onViolation('a killed filler, whose connections are cut, does not exit')
  }

  /**
   * Simulates a zombie: the filler hangs, its sessions are terminated, and another filler starts. Then the hang
   * ends, and the old filler runs for AFTERLIFE_MS before it is stopped.
   */
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
   * Starts a second filler while the first holds the lease. The second must exit with LEASE_HELD, unless the first
   * exits meanwhile.
   */
  async meetRival(isHindered: boolean): Promise<void> {
    const present = this.life
    const rival = await this.#options.start()
    this.#replaced.push(rival)
    const end = await this.#endWithin(rival, RIVAL_POLLS)
    if (end === null) rival.kill()
    await rival.proxy.close()
    if (end?.code !== LEASE_HELD && !isHindered && present !== null && present === this.life)
      this.#options.onViolation(`while another filler holds the lease, the second filler ${describeEnd(end)}`)
  }

  /**
   * Starts a second filler, which takes the lease because the session of the current filler has lost its lock. After
   * `grow` has added blocks to write, the current filler must exit with LEASE_LOST. Exceptions: a fault hinders the
   * current filler, or the second filler has not taken the lease in time.
   */
  async displace(isHindered: boolean, grow: () => Promise<boolean>): Promise<void> {
    const { fence } = await this.#options.lease()
    const old = await this.#take()
    this.#replaced.push(old)
    await this.start()
    const isTaken = async () => (await this.#options.lease()).fence !== fence
    for (let left = LOOKS; left > 0 && !(await isTaken()); left--) await delay(POLL_MS)
    const mustEnd = (await isTaken()) && (await grow())
    const end = mustEnd ? await this.#endWithin(old, DISPLACED_POLLS) : null
    if (end === null) old.kill()
    await old.proxy.close()
    const isExcused = end?.code === LEASE_LOST || this.#options.excuses.has(end?.code ?? '')
    if (mustEnd && !isHindered && !isExcused)
      this.#options.onViolation(`the filler that has lost its lease ${describeEnd(end)}`)
  }

  /** Kills the fillers that were replaced. */
  killReplaced(): void {
    for (const life of this.#replaced) life.kill()
  }

  /** Kills all fillers, also those that hang or were replaced, and waits until they have exited. */
  async end(): Promise<void> {
    this.#isOver = true
    this.life?.kill()
    this.killReplaced()
    // A filler that is started during the wait sets `#watching` to a new promise: wait for that promise, too.
    let watched: Promise<void>
    do {
      watched = this.#watching
      await watched
    } while (watched !== this.#watching)
    await Promise.all(this.#replaced.map(({ ended }) => ended))
  }

  /**
   * Waits for the end of a filler's run, and polls the reader's lease meanwhile; null after `polls` polls. Polls are
   * counted instead of time, because a busy machine also delays polls.
   */
  async #endWithin(life: Life, polls: number): Promise<LifeEnd | null> {
    const ends: LifeEnd[] = []
    void life.ended.then((end) => ends.push(end))
    for (let left = polls; left > 0 && ends.length === 0; left--) {
      await this.#options.lease()
      await delay(POLL_MS)
    }
    return ends[0] ?? null
  }

  async #watch(life: Life): Promise<void> {
    const end = await life.ended
    await life.proxy.close()
    if (this.life !== life || this.#isOver) return
    this.life = null
    this.#options.onEnd(end)
    if (end.code === null)
      this.#options.onViolation('the filler exited without an error, although nothing had asked it to stop')
    else if (!this.#options.excuses.has(end.code))
      this.#options.onViolation(`the filler exited with ${end.text}`)
    await delay(RESTART_MS)
    await this.#restart()
  }

  async #restart(): Promise<void> {
    if (!this.#isOver) await this.start()
  }

  /** Takes over the current run: its exit no longer causes a restart. */
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

/** Waits for the end of a filler's run; null if the run does not end within `ms`. */
async function endOf(life: Life, ms: number): Promise<LifeEnd | null> {
  const giveUp = new AbortController()
  const late = delay(ms, null, { signal: giveUp.signal }).catch(() => null)
  const end = await Promise.race([life.ended, late])
  giveUp.abort()
  return end
}

function describeEnd(end: LifeEnd | null): string {
  return end === null ? 'continues' : `exited with ${end.text}`
}
