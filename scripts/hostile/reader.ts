/**
 * Runs a reader with short retry delays in its own process, and restarts the reader whenever it exits. Each
 * time, prints a line `ended CODE` with the message. Usage: hostile-reader.js OPTIONS [PORT]. OPTIONS: the
 * options of `runReader` as JSON. PORT: port of the health endpoint.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { PronghornError } from '../../services/core/errors/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { runReader, startFillerHealth } from '../../services/filler/index.ts'
import type { ReaderOptions, ReaderStatus } from '../../services/filler/index.ts'

const AGAIN_MS = 20

const options = JSON.parse(process.argv[2]!) as Omit<ReaderOptions, 'logger'>
const logger = createLogger({ name: 'filler', level: 'silent' })
const ending = new AbortController()
const statuses = new Map<string, { readonly status: ReaderStatus; readonly atMs: number }>()
const health = await startFillerHealth({
  address: '127.0.0.1',
  port: Number(process.argv[3] ?? 0),
  statuses,
  stopBlocks: new Map(),
  storeState: () => 'up',
  renderMetrics: () => Promise.resolve(''),
  logger,
})
process.once('SIGTERM', () => {
  ending.abort()
})

while (!ending.signal.aborted) {
  try {
    await runReader(
      {
        ...options,
        logger,
        onStatus: (status) => statuses.set(options.settings.name, { status, atMs: performance.now() }),
      },
      ending.signal,
    )
  } catch (error) {
    const code = error instanceof PronghornError ? error.code : 'UNKNOWN'
    const text = error instanceof Error ? error.message : String(error)
    process.stdout.write(`ended ${code} ${text.slice(0, 300).replaceAll('\n', ' ')}\n`)
  }
  await sleep(AGAIN_MS)
}
await health.close()
