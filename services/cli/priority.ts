import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Threads of this process. Linux has a priority for each; new threads have that of the thread which starts them. */
const TASKS = '/proc/self/task'

/** Gives this process the lowest priority, so that services on the same machine get a processor before it. */
export function giveWay(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW)
    } catch {
      // The system does not allow it, or the thread has ended.
    }
  }
}

function threads(): number[] {
  try {
    return readdirSync(TASKS).map(Number)
  } catch {
    return [0]
  }
}
