/**
 * What compressing an answer costs: answers of the api, each in the encodings and qualities that come into question. Usage:
 *   node dist/scripts/bench/compression.js [--data FOLDER | --server ADDRESS] [--factor N] [--rounds N]
 * The ways alternate; prints the processor time of an answer, median, where it is compressed on the main thread and where
 * on another one, and its size.
 */
import { parseArgs, promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import { startApiProcess } from './api-server.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'
import { percentile } from './report.ts'

const { values: options } = parseArgs({
  options: {
    ...generatedArguments,
    rounds: { type: 'string', default: '41' },
  },
})

/** Answers that are compressed in a round, for processor time is counted in coarse steps. */
const IN_A_ROUND = 10

const PATHS: Readonly<Record<string, string>> = {
  'one asset': '/assets/v1/assets?limit=1',
  '5 assets': '/assets/v1/assets?limit=5',
  '20 assets': '/assets/v1/assets?limit=20',
  '100 assets': '/assets/v1/assets?limit=100',
  '100 transfers': '/assets/v1/transfers?limit=100',
  '100 sales': '/market/v1/sales?state=1&limit=100',
}

interface Way {
  readonly name: string
  readonly onMain: (bytes: Buffer) => Buffer
  readonly onOther: (bytes: Buffer) => Promise<Buffer>
}

const gzipText = promisify(gzip)
const brotliText = promisify(brotliCompress)

const gzipWays = [1, 2, 3, 6].map((level): Way => ({
  name: `gzip ${level}`,
  onMain: (bytes) => gzipSync(bytes, { level }),
  onOther: (bytes) => gzipText(bytes, { level }),
}))
const brotliWays = [0, 1, 2, 3, 4].map((quality): Way => {
  const optionsOf = (bytes: Buffer) => ({
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
  return {
    name: `br ${quality}`,
    onMain: (bytes) => brotliCompressSync(bytes, optionsOf(bytes)),
    onOther: (bytes) => brotliText(bytes, optionsOf(bytes)),
  }
})
const ways = [...gzipWays, ...brotliWays]

console.log('| Answer | Bytes | Encoding | Bytes | Main thread, ms | Another thread, ms |')
console.log('| --- | --- | --- | --- | --- | --- |')
for (const [name, bytes] of await readAnswers()) await measure(name, bytes)

async function readAnswers(): Promise<Map<string, Buffer>> {
  const server = await openGeneratedServer(options)
  const answers = new Map<string, Buffer>()
  try {
    for (const family of ['assets', 'market'] as const) {
      const api = await startApiProcess(server.address, family)
      try {
        for (const [name, path] of Object.entries(PATHS)) {
          if (!path.startsWith(`/${family}`)) continue
          const response = await fetch(new URL(path, api.url))
          answers.set(name, Buffer.from(await response.arrayBuffer()))
        }
      } finally {
        api.stop()
      }
    }
  } finally {
    await server.stop()
  }
  return answers
}

async function measure(name: string, bytes: Buffer): Promise<void> {
  const times = ways.map(() => ({ onMain: [] as number[], onOther: [] as number[] }))
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [index, way] of ways.entries()) {
      times[index]!.onMain.push(await processorMs(() => Promise.resolve(way.onMain(bytes))))
      times[index]!.onOther.push(await processorMs(() => way.onOther(bytes)))
    }
  }
  for (const [index, way] of ways.entries()) {
    const { onMain, onOther } = times[index]!
    const ms = [onMain, onOther].map((each) => percentile(each, 0.5).toFixed(3))
    console.log(
      `| ${name} | ${bytes.length} | ${way.name} | ${way.onMain(bytes).length} | ${ms.join(' | ')} |`,
    )
  }
}

/** Processor time of this process for one answer, all threads. */
async function processorMs(compressOne: () => Promise<Buffer>): Promise<number> {
  const before = process.cpuUsage()
  for (let done = 0; done < IN_A_ROUND; done++) await compressOne()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / IN_A_ROUND
}
