import { expect, it } from 'vitest'
import type { ReaderStatus } from '../filler/index.ts'
import { Progress } from './progress.ts'
import { explainTrouble } from './standalone-errors.ts'

const full = {
  summary: 'the disk of the database is full',
  detail: 'the database has no disk space left <- could not extend file (53100). Trying again.',
  code: 'DISK_FULL',
} as const

function shown(...statuses: Partial<ReaderStatus>[]): string[] {
  const lines: string[] = []
  const progress = new Progress({ out: (text) => lines.push(text.trim()), isTerminal: false })
  const first = { head: 1_000, block: 10, blocksBehind: 990, state: 'catching-up', blocksPerSecond: 5 }
  for (const status of statuses)
    progress.update(explainTrouble({ ...first, problem: null, ...status } as ReaderStatus, '/data'))
  return lines
}

it('the progress output reports a full disk once, with directory and remedy, and reports once that the problem is over', () => {
  expect(shown({ problem: full }, { problem: full }, { problem: null })).toEqual([
    'Trouble: no space left in /data. Free space: indexing then continues by itself, and nothing is lost.',
    'The trouble is over.',
    expect.stringMatching(/^Catching up: block 10 of 1000/),
  ])
})

it('the progress output does not call a problem solved when the reader stops', () => {
  const lines = shown({ problem: full }, { state: 'stopped' })
  expect(lines).toEqual([expect.stringMatching(/^Trouble/), 'Stopped at block 10 of 1000.'])
})
