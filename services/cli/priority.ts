import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/**
 * Folder with one entry per thread of this process. Linux has a priority for each thread, and a new thread
 * inherits the priority of the thread that starts it.
 */
const TASKS = '/proc/self/task'

/** Gives this process the lowest priority, so that services on the same machine get a processor before it. */
export function giveWay(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_LOW)
    } catch {
      // The system does not permit the change, or the thread has exited.
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
