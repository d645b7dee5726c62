import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import type { ErrorCode } from '../../core/errors/index.ts'
import { mayBeOfBlock, namingBlocks } from './fault-in-unit.ts'

const last = { num: 7, id: Buffer.alloc(32), timeMs: 0 }
const fatal = (code: ErrorCode): FatalError => new FatalError(code, 'refused')

describe('an error of a commit', () => {
  it('the error of a failed commit unit names the block and how to skip it', () => {
    expect(namingBlocks(fatal('DATABASE_ERROR'), 1, last)).toMatchObject({
      code: 'DATABASE_ERROR',
      message: 'block 7: refused; a start at block 8 leaves out only block 7',
    })
  })

  it.each<ErrorCode>(['READER_LEASE_LOST', 'DISK_FULL', 'DATABASE_PERMISSION'])(
    'the error of a failed commit unit names no block if no block is the cause: %s',
    (code) => {
      const error = fatal(code)
      expect(namingBlocks(error, 1, last)).toBe(error)
      expect(mayBeOfBlock(error)).toBe(false)
    },
  )

  it('an error that may be temporary does not lead to single-block commits', () => {
    expect(mayBeOfBlock(new RetryableError('DATABASE_UNAVAILABLE', 'gone'))).toBe(false)
  })
})
