import { describe, expect, it } from 'vitest'
import { FatalError, PronghornError, RetryableError } from './pronghorn-error.ts'
import { describeError } from './describe.ts'
import { errorCatalogue } from './catalogue.ts'

describe('errors', () => {
  it('errors say whether a retry can help', () => {
    const retryable = new RetryableError('DATABASE_UNAVAILABLE', 'gone', { details: { host: 'db' } })
    const fatal = new FatalError('CHAIN_MISMATCH', 'other chain')
    expect(retryable).toMatchObject({ name: 'RetryableError', code: 'DATABASE_UNAVAILABLE', retryable: true })
    expect(retryable.details).toEqual({ host: 'db' })
    expect(fatal).toMatchObject({ name: 'FatalError', retryable: false, details: {} })
    expect(fatal).toBeInstanceOf(PronghornError)
    expect(Object.hasOwn(fatal, 'cause')).toBe(false)
  })

  it('errors have a code that is written like a constant and explained', () => {
    for (const [code, entry] of Object.entries(errorCatalogue)) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/)
      expect(entry.meaning.length).toBeGreaterThan(20)
      expect(entry.remedy.length).toBeGreaterThan(20)
    }
  })
})

describe('describeError', () => {
  it('describeError puts the causes on one line', () => {
    const refused = Object.assign(new Error('connect failed\n  at 127.0.0.1'), { code: 'ECONNREFUSED' })
    const error = new RetryableError('DATABASE_UNAVAILABLE', 'no database', { cause: refused })
    expect(describeError(error)).toBe(
      'DATABASE_UNAVAILABLE: no database <- connect failed at 127.0.0.1 (ECONNREFUSED)',
    )
  })

  it('describeError shows the members of an aggregate', () => {
    const error = new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')])
    expect(describeError(error)).toBe('::1 refused; 127.0.0.1 refused')
  })

  it('describeError ends on circular causes and bounds its length', () => {
    const error = new Error('around')
    error.cause = error
    expect(describeError(error)).toBe('around')
    expect(describeError(new Error('x'.repeat(100_000))).length).toBe(4000)
  })

  it('describeError copes with values that are no errors', () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    expect(describeError('text')).toBe('text')
    expect(describeError({ a: 1 })).toBe('{"a":1}')
    expect(describeError(undefined)).toBe('undefined')
    expect(describeError(null)).toBe('null')
    expect(describeError(circular)).toBe('[object Object]')
    expect(describeError({ a: 1n })).toBe('[object Object]')
  })
})
