import type { ReaderState } from '../health/index.ts'
import type { HistoryRange, HistoryView } from './data.ts'

/** What a stretch of history keeps. */
interface Stretch {
  /** Looks closer to the last one are left out. */
  readonly everyMs: number
  readonly keptMs: number
  /** A rate is taken over at least so much time, where there is as much. */
  readonly windowMs: number
}

const stretches: Readonly<Record<HistoryRange, Stretch>> = {
  // The reader's position moves with its commits, several seconds apart when it catches up.
  recent: { everyMs: 900, keptMs: 600_000, windowMs: 3_000 },
  day: { everyMs: 59_000, keptMs: 86_400_000, windowMs: 59_000 },
}

/** Readers that came and went would otherwise be kept for ever. */
const MAX_READERS = 64
/** Time over which the remaining time is judged. */
const ETA_WINDOW_MS = 30_000
/** Less says nothing about the remaining time. */
const ETA_LEAST_MS = 4_000

interface Look {
  readonly atMs: number
  readonly block: number
  readonly head: number
}

interface ReaderHistory {
  readonly recent: Look[]
  readonly day: Look[]
}

/** What readers did in the last minutes and in the last day, as this process has seen it. */
export class ProgressHistory {
  readonly #readers = new Map<string, ReaderHistory>()
  #lastLookMs: number | undefined

  /** Takes a look at the readers. */
  note(readers: readonly ReaderState[], nowMs: number): void {
    for (const reader of readers) {
      const history = this.#readers.get(reader.name) ?? this.#begin(reader)
      const look = { atMs: nowMs, block: reader.blockNum, head: reader.headBlock ?? reader.blockNum }
      add(history.recent, look, stretches.recent)
      add(history.day, look, stretches.day)
    }
    this.#lastLookMs = nowMs
  }

  /** Blocks per second over time. A rollback is not progress: it counts as none. */
  rates(reader: string, range: HistoryRange): HistoryView {
    const looks = this.#readers.get(reader)?.[range] ?? []
    const { windowMs, everyMs } = stretches[range]
    const times: number[] = []
    const rates: number[] = []
    let from = 0
    for (const [place, look] of looks.entries()) {
      if (place === 0) continue
      // What happened while nobody looked is not known, so nothing is told of it.
      if (look.atMs - looks[place - 1]!.atMs > everyMs * 10) {
        from = place
        continue
      }
      while (from < place - 1 && look.atMs - looks[from + 1]!.atMs >= windowMs) from++
      const first = looks[from]!
      times.push(Math.round(look.atMs / 1_000))
      rates.push(oneDigit(Math.max(0, look.block - first.block) / ((look.atMs - first.atMs) / 1_000)))
    }
    return { times, rates }
  }

  /** Seconds until the reader has caught up with a head that moves on meanwhile; null when that cannot be told. */
  secondsLeft(reader: string, lagBlocks: number): number | null {
    if (lagBlocks === 0) return 0
    const looks = this.#readers.get(reader)?.recent ?? []
    const last = looks.at(-1)
    if (!last) return null
    const first = looks.find(({ atMs }) => last.atMs - atMs <= ETA_WINDOW_MS)!
    const seconds = (last.atMs - first.atMs) / 1_000
    if (seconds * 1_000 < ETA_LEAST_MS) return null
    const gain = (last.block - first.block - Math.max(0, last.head - first.head)) / seconds
    return gain > 0 ? Math.ceil(lagBlocks / gain) : null
  }

  /** A reader that was not there at the last look has done all its blocks since. */
  #begin({ name, startBlock, headBlock, blockNum }: ReaderState): ReaderHistory {
    const start = { block: startBlock - 1, head: headBlock ?? blockNum }
    const looks = this.#lastLookMs === undefined ? [] : [{ ...start, atMs: this.#lastLookMs }]
    const history = { recent: [...looks], day: [...looks] }
    const [oldest] = this.#readers.keys()
    if (this.#readers.size >= MAX_READERS && oldest !== undefined) this.#readers.delete(oldest)
    this.#readers.set(name, history)
    return history
  }
}

function add(looks: Look[], look: Look, { everyMs, keptMs }: Stretch): void {
  const last = looks.at(-1)
  if (last && look.atMs - last.atMs < everyMs) return
  looks.push(look)
  const kept = looks.findIndex(({ atMs }) => look.atMs - atMs <= keptMs)
  if (kept > 0) looks.splice(0, kept)
}

function oneDigit(value: number): number {
  return Math.round(value * 10) / 10
}
