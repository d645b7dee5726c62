import { relative } from 'node:path'
import { beforeEach } from 'vitest'

/** A random test that fails says by which command it is repeated: its title ends with the seed. */
beforeEach(({ task, onTestFailed }) => {
  onTestFailed(() => {
    const seed = /seed (\d+)/.exec(task.fullTestName)?.[1]
    if (seed === undefined) return
    const file = relative(process.cwd(), task.file.filepath)
    console.error(`repeat it: PRONGHORN_SEED=${seed} npx vitest run ${file} -t 'seed ${seed}'`)
  })
})
