import { describe, expect, it } from 'vitest'
import { createLogger } from './logger.ts'
import { isSecretKey, redactSecrets, redactUrls } from './redact.ts'
import type { LoggerOptions } from './logger.ts'

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = []
  const logger = createLogger({
    name: 'test',
    destination: { write: (line) => lines.push(line) },
    ...options,
  })
  const last = () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown>
  return { logger, lines, last }
}

describe('createLogger', () => {
  it('createLogger writes one JSON line with level as a word and an ISO time', () => {
    const { logger, lines, last } = capture()
    logger.info({ block: 5n }, 'indexed')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/\n$/)
    expect(last()).toMatchObject({ level: 'info', name: 'test', msg: 'indexed', block: '5' })
    expect(last().time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  it('createLogger writes nothing below its level', () => {
    const { logger, lines } = capture({ level: 'warn' })
    logger.info('no')
    logger.warn('yes')
    expect(lines).toHaveLength(1)
  })

  it('createLogger hides secrets at any depth, in children, in errors and in text', () => {
    const { logger, lines } = capture()
    const error = Object.assign(new Error('login to postgres://me:hunter2@db/x failed'), {
      password: 'hunter2',
    })
    logger.info({ a: [{ b: { sqldb: { password: 'hunter2' } } }], api_key: 'hunter2' }, 'x')
    logger.info({ headers: { Authorization: 'Bearer hunter2' } }, 'x')
    logger.child({ token: 'hunter2' }).info('x')
    logger.error(error)
    logger.error({ err: new Error('outer', { cause: error }) }, 'x')
    logger.warn('redis://:hunter2@host:6379')
    expect(lines).toHaveLength(6)
    for (const line of lines) {
      expect(line).not.toContain('hunter2')
      expect(() => JSON.parse(line) as unknown).not.toThrow()
    }
  })

  it('createLogger logs errors with type, text, stack and cause under any key', () => {
    const { logger, last } = capture()
    logger.error({ reason: new TypeError('outer', { cause: new Error('inner') }) }, 'x')
    expect(last().reason).toMatchObject({ type: 'TypeError', message: 'outer', cause: { message: 'inner' } })
    logger.error(new Error('alone'))
    expect(last()).toMatchObject({ msg: 'alone', err: { type: 'Error', message: 'alone' } })
  })

  it('createLogger with the option `pretty` writes one short text line for each entry', () => {
    const { logger, lines } = capture({ pretty: true })
    logger.child({ reader: 'main' }).info({ block: 7 }, 'indexed')
    logger.error(new Error('broken'))
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d info test: indexed reader="main" block=7\n$/)
    expect(lines[1]).toMatch(/error test: broken err="broken"\n$/)
  })
})

describe('redactSecrets', () => {
  it('isSecretKey recognizes the usual names of secrets, but no similar names', () => {
    for (const key of [
      'password',
      'PGPASSWORD',
      'apiKey',
      'api_key',
      'X-API-Key',
      'JWT_SECRET',
      'Authorization',
    ]) {
      expect([key, isSecretKey(key)]).toEqual([key, true])
    }
    for (const key of ['token_contract', 'tokens', 'passed', 'key', 'author', 'secretary']) {
      expect([key, isSecretKey(key)]).toEqual([key, false])
    }
  })

  it('redactSecrets leaves its argument unchanged, and replaces circular references and deeply nested values', () => {
    const value: Record<string, unknown> = { secret: 'x', empty: { secret: '' } }
    value.self = value
    expect(redactSecrets(value)).toEqual({ secret: '[redacted]', empty: { secret: '' }, self: '[circular]' })
    expect(value.secret).toBe('x')
    let deep: unknown = { password: 'x' }
    for (let depth = 0; depth < 50; depth++) deep = { deep }
    expect(JSON.stringify(redactSecrets(deep))).toContain('[deep]')
  })

  it.each([
    ['https://token@h/v1', 'https://[redacted]@h/v1'],
    ['https://h/v1/chain?api-key=x&b=1 failed', 'https://h/v1/chain?[redacted] failed'],
    ['wss://h/ship/abcDEFghi', 'wss://h/ship/[redacted]'],
    ['https://h:1/9f8e7d6c5b4a/v1/chain/get_info', 'https://h:1/[redacted]/v1/chain/get_info'],
    ['{"url":"http://h/?k=v\\"","b":1}', '{"url":"http://h/?[redacted]\\"","b":1}'],
    ['https://lists.test/atomicassets/all', 'https://lists.test/atomicassets/all'],
    ['ws+unix:///run/node12345/ship.sock', 'ws+unix:///run/node12345/ship.sock'],
    ['at file:///srv/pronghorn-1.0.0/dist/main.js:1:2', 'at file:///srv/pronghorn-1.0.0/dist/main.js:1:2'],
    ['postgres://h/db', 'postgres://h/db'],
  ])('redactUrls replaces parts that may be an API key: %s', (text, shown) => {
    expect(redactUrls(text)).toBe(shown)
  })

  it('redactUrls removes passwords and query strings from URLs, and leaves other text unchanged', () => {
    expect(redactUrls('wss://u:p@h:1/x?y and http://h:8080')).toBe(
      'wss://u:[redacted]@h:1/x?[redacted] and http://h:8080',
    )
    expect(redactUrls('{"a":"http://h:80","b":"c@d"}')).toBe('{"a":"http://h:80","b":"c@d"}')
  })
})
