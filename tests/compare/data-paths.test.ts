import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeGroup, groupDifferences } from '../../scripts/answers/index.ts'
import type { OpenApiDocument } from '../../scripts/compare/document.ts'
import { compareServers } from '../../scripts/compare/run.ts'
import type { Comparison, ExpectedDifference } from '../../scripts/compare/run.ts'
import { createAnswerCheck } from '../api/answer-check.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'
import { afterImportState } from './after-import-state.ts'
import { servePath } from './data-paths.ts'
import type { DataPath, ServedPath } from './data-paths.ts'

const SEED = Number(process.env.COMPARE_SEED ?? 20_261_127)
const REQUESTS = Number(process.env.COMPARE_REQUESTS ?? rounds(300, 10_000))

/** Expected differences after an import: the old database does not log every action. */
const afterImport: readonly ExpectedDifference[] = [
  {
    why: 'the old database does not log addnotifyacc',
    endpoint: '/collections/\\{collection_name\\}/logs$',
    kind: '^records$',
  },
]

const paths: readonly (readonly [DataPath, readonly ExpectedDifference[]])[] = [
  ['live', []],
  ['import', afterImport],
  ['import-state', afterImportState],
]

let blocks: ServedPath
/** Ids and values for the random requests. Read once, because the first server is the same in every comparison. */
let material: Comparison['material'] | undefined
let check: ReturnType<typeof createAnswerCheck>
beforeAll(async () => {
  blocks = await servePath('blocks')
  check = createAnswerCheck((await (await fetch(`${blocks.url}/openapi.json`)).json()) as OpenApiDocument)
}, patient(120_000))
afterAll(() => blocks.close())

describe.each(paths)('a database filled by %s', (path, expected) => {
  let other: ServedPath
  beforeAll(async () => {
    other = await servePath(path)
  }, patient(120_000))
  afterAll(() => other.close())

  it(
    `the database gives the same documented answers as an indexed database to ${REQUESTS} random requests of seed ${SEED}`,
    async () => {
      const deviations: string[] = []
      const found = await compareServers({
        ...{ baseA: blocks.url, baseB: other.url, seed: SEED, requests: REQUESTS, expected },
        ...{ perSecond: 1_000, atOnce: 4, timeoutMs: patient(10_000), material },
        onAnswer(documentPath, status, text) {
          const deviation = check(documentPath, status, JSON.parse(text))
          if (deviation !== undefined) deviations.push(`${documentPath}: ${deviation}`)
        },
      })
      material = found.material
      const unexplained = found.differences.filter(({ reason }) => reason === undefined)
      const groups = groupDifferences(unexplained)
      console.info(
        `${path}: ${found.compared} compared, ${found.withContent} with content, ${found.unanswered.length} not answered, ` +
          `${found.differences.length - unexplained.length} expected differences, ${groups.length} kinds of others`,
      )
      expect(groups.flatMap(describeGroup).slice(0, 80)).toEqual([])
      expect(deviations.slice(0, 20)).toEqual([])
      expect(found.unanswered.length).toBeLessThan(REQUESTS / 50)
      // Enough answers must have content, because two empty lists are always equal.
      expect(found.withContent).toBeGreaterThan(REQUESTS / 4)
      expect(found.endpoints.asked).toBeGreaterThanOrEqual(
        found.endpoints.documented - found.unanswered.length,
      )
    },
    patient(1_200_000),
  )
})
