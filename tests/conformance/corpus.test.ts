import { afterEach, beforeEach, expect, it } from 'vitest'
import type { OpenApiDocument } from '../../scripts/compare/document.ts'
import { createPathFinder } from '../../scripts/compare/document.ts'
import type { Entry, Reply } from '../../scripts/conformance/comparison/index.ts'
import { corpusNames } from '../../scripts/conformance/corpus.ts'
import { describeFailures, isConforming, runCorpus } from '../../scripts/conformance/run.ts'
import { setStage } from '../../scripts/conformance/stage.ts'
import { createAnswerCheck } from '../api/answer-check.ts'
import { quiet } from '../api/server.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

/**
 * The replay mode `recorded` leaves the newest blocks reversible. `tests/integration/recordings.test.ts` compares the rows
 * of both modes, and `npm run conformance` compares the answers in both modes.
 */
it(
  'the answers recorded from the replaced system are reproduced, except for the differences on the compatibility page',
  async () => {
    const stage = await setStage({ database: database.address, replay: 'recorded', logger: quiet })
    try {
      expect(stage.corpora).toEqual(corpusNames)
      const document = (await (await fetch(`${stage.url}/openapi.json`)).json()) as OpenApiDocument
      const check = createAnswerCheck(document)
      const pathOf = createPathFinder(document)
      const deviations: string[] = []
      let checked = 0
      const deviationOf = (entry: Entry, reply: Reply): string | undefined => {
        const path = pathOf(entry.request.path)
        // The server itself answers with status 404, 405, 413 or 415, without an endpoint.
        if (path === undefined || [404, 405, 413, 415].includes(reply.status)) return undefined
        if (!reply.text.startsWith('{')) return undefined
        checked++
        return check(path, reply.status, JSON.parse(reply.text))
      }
      for (const corpus of stage.corpora) {
        const outcome = await runCorpus(corpus, stage.url, (entry, reply) => {
          const deviation = deviationOf(entry, reply)
          if (deviation !== undefined) deviations.push(`${entry.id}: ${deviation}`)
        })
        const unexpected = {
          ...outcome,
          failures: outcome.failures.filter(({ reason }) => reason === undefined),
        }
        expect(describeFailures(unexpected)).toEqual([])
        expect(isConforming(outcome)).toBe(true)
      }
      expect(deviations.slice(0, 20)).toEqual([])
      expect(checked).toBeGreaterThan(1_000)
    } finally {
      await stage.close()
    }
  },
  patient(300_000),
)
