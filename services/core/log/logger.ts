import pino from 'pino'
import { redactSecrets, redactUrls } from './redact.ts'

/** Log levels, most verbose first; `silent` writes nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** A pino logger: `logger.info({ block: 5 }, 'text')`, `logger.child({ reader: 'main' })`. */
export type Logger = pino.Logger

/** Destination of log lines: standard output, standard error, or a stream. */
export type LogDestination = 'stdout' | 'stderr' | { write(line: string): void }

export interface LoggerOptions {
  /** Name of the process or component, written to the field `name` of each log line. */
  readonly name: string
  /** Minimum level; default `info`. */
  readonly level?: LogLevel
  /** Whether to write short text lines for people instead of JSON; default false. */
  readonly pretty?: boolean
  /** Destination of the log lines; default: standard output. */
  readonly destination?: LogDestination
}

/**
 * Creates a logger that writes one line per entry, JSON unless `pretty`: `level` (word), `time` (ISO 8601, UTC),
 * `name`, the given fields, `msg`. Values under secret-looking keys and secrets in URLs become `[redacted]` at any
 * logged depth. Writes to standard streams are synchronous, so that the last line before an exit is never lost.
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
      // Turn off pino's serialiser of `err`: `redactSecrets` serialises errors in every field.
      serializers: { err: asItIs },
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      hooks: { streamWrite: redactUrls },
    },
    target,
  )
  // pino has no hook for the fields of child loggers, so override `child`; further children inherit the override.
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

/** Formats a line as `12:30:01 info filler: text  block=5 reader="main"`, fields after the text. */
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
