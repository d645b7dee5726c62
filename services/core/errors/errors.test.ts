import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../paths/index.ts'
import { FatalError, PronghornError, RetryableError } from './pronghorn-error.ts'
import { describeError } from './describe.ts'
import { errorCatalogue } from './catalogue.ts'
import type { ErrorCode } from './catalogue.ts'
import { runModes } from './mode.ts'
import type { RunMode } from './mode.ts'
import { remedyOf } from './remedy.ts'

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

  it('errors have an upper-case code with an explanation', () => {
    for (const [code, entry] of Object.entries(errorCatalogue)) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/)
      expect(entry.meaning.length).toBeGreaterThan(20)
    }
  })

  it('a remedy contains the values of the error, and placeholders for values that the error lacks', () => {
    expect(remedyOf('CHAIN_MISMATCH', 'standalone', { held: 'the demo chain' })).toBe(
      'Use another `--data` directory, or a node of the demo chain.',
    )
    expect(remedyOf('CHAIN_MISMATCH', 'standalone')).toContain('a node of HELD')
    expect(remedyOf('SHIP_RANGE_UNAVAILABLE', 'standalone', { start: 847 })).toContain('`--start-block 847`')
    const unreadable = remedyOf('SHIP_BLOCK_UNREADABLE', 'standalone', { start: 446 })
    expect(unreadable).toContain('the same `--data` directory and `--start-block 446`')
  })

  it('a remedy spells the setting as the run mode does, or names the command-line option that the caller added to the error', () => {
    const error = new RetryableError('CHAIN_UNREACHABLE', 'no answer', { details: { node: 'n' } })
    expect(remedyOf(error.code, 'process', error.details)).toMatch(/^Check `chain\.http`: /)
    expect(remedyOf(error.code, 'appliance', error.details)).toMatch(/^Check CHAIN_HTTP in `\.env`: /)
    expect(error.addDetails({ http: '`--http`', node: 'other' }).details).toEqual({
      node: 'n',
      http: '`--http`',
    })
    expect(remedyOf(error.code, 'process', error.details)).toMatch(/^Check `--http`: /)
  })
})

/** Commands of the program, as `pronghorn --help` lists them. */
const commands = readdirSync(join(packageRoot, 'services/cli/commands'))
  .map((file) => readFileSync(join(packageRoot, 'services/cli/commands', file), 'utf8'))
  .flatMap((text) => [...text.matchAll(/\.command\('([a-z-]+)/g)].map(([, name]) => name!))
/** Text that contains every environment variable of the compose file and of the program. */
const variables = ['docker-compose.yml', '.env.example', 'docs/settings.md']
  .map((file) => readFileSync(join(packageRoot, file), 'utf8'))
  .join('\n')

/** Words that mislead in a run mode, because they name things that the mode does not have. */
const foreignWords: Readonly<Record<RunMode, RegExp>> = {
  standalone:
    /docker|compose|container|scripts\/|\.env|`(?:chain|sqldb|kvstore)\.|systemctl|[a-z]_block`|\b(?:CHAIN|POSTGRES|REDIS)_[A-Z]+|`pronghorn /,
  appliance:
    /npm start|npm ci|`--(?:ship|http|data|start-block)|`(?:chain|sqldb|kvstore)\.|systemctl|`pronghorn /,
  process: /docker|compose|\.env|npm start|`--(?:ship|http|data|start-block)|scripts\//,
}
/** Error codes with a remedy for a run mode in which the error cannot occur. */
const otherwise = new Map<ErrorCode, readonly RunMode[]>([
  ['EMBEDDED_POSTGRES_MISSING', ['standalone']],
  ['EMBEDDED_POSTGRES_FAILED', ['appliance', 'process']],
  ['DATA_FOLDER_HELD', ['appliance', 'process']],
  ['DATA_FOLDER_UNUSABLE', ['appliance', 'process']],
  ['DATA_FOLDER_DAMAGED', ['appliance', 'process']],
  ['DATA_FOLDER_MISSING', ['appliance', 'process']],
])

describe.each(Object.keys(runModes) as RunMode[])('remedies of %s', (mode) => {
  const remedies = (Object.keys(errorCatalogue) as ErrorCode[]).map(
    (code) => [code, remedyOf(code, mode)] as const,
  )

  it.each(remedies)('the remedy of %s uses only commands and settings of the run mode', (code, remedy) => {
    expect(remedy.length).toBeGreaterThan(20)
    expect(remedy).toMatch(/^[A-Z].*[.?]$/)
    expect(remedy).not.toMatch(/[{}]|undefined/)
    const named = [
      ...remedy.matchAll(/`pronghorn ([a-z-]+)/g),
      ...remedy.matchAll(/filler ((?:verify|import-database))/g),
    ]
    for (const [, command] of named) expect([...commands, 'help', '--help']).toContain(command)
    for (const [variable] of remedy.matchAll(/\b[A-Z]{2,}(?:_[A-Z]+)+\b/g))
      expect(variables).toContain(variable)
    if (!otherwise.get(code)?.includes(mode)) expect(remedy).not.toMatch(foreignWords[mode])
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

  it('describeError terminates on circular causes, and limits the length of the text', () => {
    const error = new Error('around')
    error.cause = error
    expect(describeError(error)).toBe('around')
    expect(describeError(new Error('x'.repeat(100_000))).length).toBe(4000)
  })

  it('describeError returns a text for values that are no errors', () => {
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
