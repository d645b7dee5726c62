/**
 * Compares the API with recorded answers of the replaced system: indexes the recording, serves it, and sends every
 * recorded request.
 * Usage: npm run conformance [history] [recorded] (default: both replay modes)
 *
 * Prints the results. Exits with 1 if an answer has a difference that `scripts/conformance/differences.json` does not
 * list, or if a listed difference no longer occurs.
 */
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { describeFailures, isConforming, runCorpus } from './run.ts'
import type { Outcome } from './run.ts'
import { setStage } from './stage.ts'
import type { StageOptions } from './stage.ts'

const logger = createLogger({ name: 'conformance', level: 'error', pretty: true })

async function compare(
  postgres: Omit<StageOptions['database'], 'database'>,
  replay: StageOptions['replay'],
): Promise<Outcome[]> {
  const maintenance = await connectDatabase(
    { ...postgres, database: 'postgres' },
    { applicationName: 'conformance' },
  )
  await maintenance.query(`CREATE DATABASE conformance_${replay}`)
  await maintenance.end()
  const database = { ...postgres, database: `conformance_${replay}` }
  const client = await connectDatabase(database, { applicationName: 'conformance' })
  await migrate(client)
  await client.end()
  const stage = await setStage({ database, replay, logger })
  try {
    const outcomes: Outcome[] = []
    for (const corpus of stage.corpora) outcomes.push(await runCorpus(corpus, stage.url))
    return outcomes
  } finally {
    await stage.close()
  }
}

function report(replay: string, outcome: Outcome): void {
  const counts = Object.entries(outcome.tally).map(([result, count]) => `${count} ${result}`)
  console.log(`${outcome.corpus}, replay mode ${replay}:  ${counts.sort().join(', ')}`)
  for (const line of describeFailures(outcome)) console.log(`  ${line}`)
}

/**
 * Compares in both replay modes, or in the given modes.
 * @returns the exit code.
 */
async function main(args: readonly string[]): Promise<number> {
  const modes = (['history', 'recorded'] as const).filter((mode) => args.length === 0 || args.includes(mode))
  const server = await startEmbeddedPostgres()
  const { host, port, user, password } = server
  let isRight = modes.length > 0
  try {
    for (const replay of modes) {
      for (const outcome of await compare({ host, port, user, password }, replay)) {
        report(replay, outcome)
        isRight &&= isConforming(outcome)
      }
    }
  } finally {
    await server.stop()
  }
  return isRight ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
