import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { corpusNames } from '../../scripts/conformance/corpus.ts'
import { describeFailures, isConforming, runCorpus } from '../../scripts/conformance/run.ts'
import { setStage } from '../../scripts/conformance/stage.ts'
import { quiet } from '../api/server.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

describe.each(['history', 'recorded'] as const)('the recorded answers, the chain read as %s', (replay) => {
  it(
    'the recorded answers are given, but for what the compatibility page lists',
    async () => {
      const stage = await setStage({ database: database.address, replay, logger: quiet })
      try {
        expect(stage.corpora).toEqual(corpusNames)
        for (const corpus of stage.corpora) {
          const outcome = await runCorpus(corpus, stage.url)
          const unexpected = {
            ...outcome,
            failures: outcome.failures.filter(({ reason }) => reason === undefined),
          }
          expect(describeFailures(unexpected)).toEqual([])
          expect(isConforming(outcome)).toBe(true)
        }
      } finally {
        await stage.close()
      }
    },
    patient(300_000),
  )
})
