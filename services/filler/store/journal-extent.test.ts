import { beforeEach, describe, expect, it } from 'vitest'
import { JournalExtent } from './journal-extent.ts'
import type { TableLayout } from './layout.ts'

const layoutOf = (undoTable: string | null) => ({ undoTable }) as TableLayout
const assets = layoutOf('undo.assets')
const offers = layoutOf('undo.offers')
const logs = layoutOf(null)
const all = [assets, offers, logs]

let journal: JournalExtent
beforeEach(() => {
  journal = new JournalExtent()
})

describe('blocks of the undo journals', () => {
  it('before the first pruning every journal may have entries of every block', () => {
    journal.noteJournaled([assets], 5)
    expect(journal.reachingDownTo(1, all)).toEqual(['undo.assets', 'undo.offers'])
    expect(journal.reachingUpTo(1_000, all)).toEqual(all)
  })

  it('after the first pruning every journal may have entries up to the newest block, until that block is pruned', () => {
    journal.notePruned(90, 100, all)
    expect(journal.reachingDownTo(91, all)).toEqual(['undo.assets', 'undo.offers'])
    expect(journal.reachingUpTo(100, all)).toEqual(all)
    expect(journal.reachingUpTo(101, all)).toEqual([])
    journal.notePruned(100, 110, all)
    expect(journal.reachingDownTo(101, all)).toEqual([])
    expect(journal.reachingUpTo(101, all)).toEqual([])
  })

  it('a journal is pruned only at a block of which it has entries', () => {
    journal.notePruned(100, 100, all)
    for (const block of [101, 103]) journal.noteJournaled([assets], block)
    journal.noteJournaled([offers], 102)
    expect(journal.reachingDownTo(101, all)).toEqual(['undo.assets'])
    journal.notePruned(101, 103, all)
    expect(journal.reachingDownTo(102, all)).toEqual(['undo.offers'])
    expect(journal.reachingDownTo(103, all)).toEqual(['undo.assets', 'undo.offers'])
    expect(journal.reachingUpTo(103, all)).toEqual([assets])
  })

  it('blocks after a rollback replace the blocks that were rolled back', () => {
    journal.notePruned(100, 100, all)
    for (const block of [101, 102, 103]) journal.noteJournaled([assets], block)
    expect(journal.reachingUpTo(102, all)).toEqual([assets])
    journal.noteJournaled([assets], 102)
    expect(journal.reachingUpTo(103, all)).toEqual([])
    expect(journal.reachingUpTo(102, all)).toEqual([assets])
    expect(journal.reachingDownTo(101, all)).toEqual(['undo.assets'])
  })

  it('a wiped database has unknown journals again', () => {
    journal.notePruned(100, 100, all)
    journal.clear()
    expect(journal.prunedTo).toBe(0)
    expect(journal.reachingDownTo(1, all)).toEqual(['undo.assets', 'undo.offers'])
  })
})
