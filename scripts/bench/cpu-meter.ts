/** Processor time of other processes: what a measurement costs, however busy the machine is. */
import { readFileSync } from 'node:fs'

/** Sums the processor time of the first threads of processes, as Linux reports it. */
export class CpuMeter {
  readonly #files: readonly string[]

  constructor(pids: readonly number[]) {
    this.#files = pids.map((pid) => `/proc/${pid}/schedstat`)
  }

  /** Milliseconds on a processor since the processes began; NaN where the system does not report it. */
  read(): number {
    let nanoseconds = 0
    for (const file of this.#files) {
      try {
        nanoseconds += Number(readFileSync(file, 'latin1').split(' ', 1)[0])
      } catch {
        return NaN
      }
    }
    return nanoseconds / 1e6
  }
}
