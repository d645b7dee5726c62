import pino from 'pino'
import { redactSecrets, redactUrls } from './redact.ts'

/** Levels of the log, most talkative first; `silent` writes nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** A logger: `logger.info({ block: 5 }, 'text')`, `logger.child({ reader: 'main' })`. */
export type Logger = pino.Logger

/** Where lines go: a stream, or the standard output or error of the process. */
export type LogDestination = 'stdout' | 'stderr' | { write(line: string): void }

export interface LoggerOptions {
  /** Process or part, the `name` of each line. */
  readonly name: string
  /** Default `info`. */
  readonly level?: LogLevel
  /** Short text lines for people instead of JSON. Default false. */
  readonly pretty?: boolean
  /** Default stdout. */
  readonly destination?: LogDestination
}

/**
 * A logger that writes one line for each entry, JSON unless `pretty`: `level` (word), `time` (ISO 8601, UTC),
 * `name`, the given fields, `msg`. Values under secret-looking keys and passwords inside URLs are replaced by
 * `[redacted]` at any depth that is logged. Writing is synchronous for the standard streams, so that the last
 * line before an exit is never lost.
 */
export function createLogger(options: LoggerOptions): Logger {
  const sink = openDestination(options.destination ?? 'stdout')
  const target = options.pretty === true ? { write: (line: string) => sink.write(prettyLine(line)) } : sink
  const logger = pino(
    {
      name: options.name,
      level: options.level ?? 'info',
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are serialised by `redactSecrets`, wherever in the fields they stand.
      serializers: { err: asItIs },
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      hooks: { streamWrite: redactUrls },
    },
    target,
  )
  // pino has no hook for the fields of a child; children inherit this one from their root.
  const createChild: unknown = Reflect.get(logger, 'child')
  logger.child = function child(this: Logger, fields: object, ...rest: unknown[]) {
    const made: unknown = Reflect.apply(createChild as () => unknown, this, [redactFields(fields), ...rest])
    return made
  } as Logger['child']
  return logger
}

function openDestination(destination: LogDestination): { write(line: string): void } {
  if (destination === 'stdout') return pino.destination({ dest: 1, sync: true })
  if (destination === 'stderr') return pino.destination({ dest: 2, sync: true })
  return destination
}

function asItIs(value: unknown): unknown {
  return value
}

function redactFields(fields: object): Record<string, unknown> {
  return redactSecrets(fields) as Record<string, unknown>
}

const headKeys = new Set(['level', 'time', 'name', 'msg', 'pid'])

/** `12:30:01 info filler: text  block=5 reader="main"`: the fields follow the text. */
function prettyLine(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>
  const fields = Object.entries(entry).filter(([key]) => !headKeys.has(key))
  const shown = fields.map(([key, value]) => `${key}=${prettyValue(value)}`)
  const clock = textOf(entry.time).slice(11, 19)
  const text = [`${clock} ${textOf(entry.level)} ${textOf(entry.name)}: ${textOf(entry.msg)}`, ...shown]
  return `${text.join(' ').trimEnd()}\n`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function prettyValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) {
    return JSON.stringify(value.message)
  }
  return JSON.stringify(value)
}
