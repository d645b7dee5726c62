import { expect, test } from 'vitest'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { describeInterruption, describeStall } from './progress.ts'
import type { ProgressFacts } from './progress.ts'

const well: ProgressFacts = {
  session: 'connected',
  lastProblem: null,
  sinceCommitMs: 400,
  sinceMessageMs: 400,
  unfinishedBytes: 0,
  waitingBlocks: 0,
}

test.each([
  ['no cause while the reader commits', { waitingBlocks: 90_000 }, null],
  ['no cause if no block waits and the node responds', { sinceCommitMs: 60_000 }, null],
  [
    'blocks that wait',
    { sinceCommitMs: 31_000, waitingBlocks: 7 },
    'blocks are waiting to be committed: 7 blocks, no commit for 31 s',
  ],
  [
    'a silent node',
    { sinceCommitMs: 40_000, sinceMessageMs: 40_000 },
    'the chain node is silent: no message for 40 s',
  ],
  [
    'a message that stays incomplete',
    { sinceCommitMs: 210_000, sinceMessageMs: 210_000, unfinishedBytes: 21_000 },
    'a message of the chain node stays incomplete: 21000 bytes after 210 s',
  ],
  [
    'a lost connection',
    { session: 'disconnected', lastProblem: 'ECONNREFUSED', sinceCommitMs: 30_000 },
    'no stream from the chain node: ECONNREFUSED (for 30 s). Trying again.',
  ],
  [
    'a node that is behind',
    { session: 'behind', sinceCommitMs: 30_000 },
    'the chain node is behind the reader: no commit for 30 s',
  ],
] as const)('describeStall names %s', (_, change, expected) => {
  expect(describeStall({ ...well, ...change })?.detail ?? null).toBe(expected)
})

test('the cause of an interruption is shown to the operator, not to the public', () => {
  const cause = new Error('connect ECONNREFUSED 10.1.2.3:5432')
  const error = new RetryableError('DATABASE_UNAVAILABLE', 'the database cannot be reached', { cause })
  expect(describeInterruption(error)).toEqual({
    summary: 'the database is unavailable',
    detail: 'the database cannot be reached <- connect ECONNREFUSED 10.1.2.3:5432. Trying again.',
    code: 'DATABASE_UNAVAILABLE',
  })
  expect(describeInterruption(new FatalError('SHIP_PROTOCOL', 'from 10.1.2.3')).summary).toBe(
    'reading was interrupted (SHIP_PROTOCOL)',
  )
})
