import { relative } from 'node:path'
import { beforeEach } from 'vitest'

/** Prints the command that repeats a failed random test; the title of such a test ends with its seed. */
beforeEach(({ task, onTestFailed }) => {
  onTestFailed(() => {
    const seed = /seed (\d+)/.exec(task.fullTestName)?.[1]
    if (seed === undefined) return
    const file = relative(process.cwd(), task.file.filepath)
    console.error(`repeat it: PRONGHORN_SEED=${seed} npx vitest run ${file} -t 'seed ${seed}'`)
  })
})
