import type { z } from 'zod'
import { FatalError } from '../errors/index.ts'
import { isSecretKey, redactSecrets, redactUrls, REDACTED_TEXT } from '../log/index.ts'
import { likelyOf } from './nearest.ts'
import type { Path } from './path.ts'
import { formatPath, valueAt } from './path.ts'

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** File name, or `environment`. */
  readonly file: string
  /** JSON path as the operator wrote it, such as `[0].contracts[1].args`, or a variable; '' = the file itself. */
  readonly path: string
  /** What is there, as JSON, shortened, secrets replaced; `nothing` when it is missing. */
  readonly found: string
  /** What may be there. */
  readonly allowed: string
  /** The whole problem as a sentence, where `found` and `allowed` do not form one. */
  readonly message?: string
}

/** A warning: something was corrected or should be checked; the start continues. */
export interface ConfigWarning {
  readonly file: string
  readonly path: string
  readonly message: string
}

/** All problems of a configuration at once. Code CONFIG_INVALID; `problems` is never empty. */
export class ConfigError extends FatalError {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    const lines = problems.map((problem) => `  ${formatProblem(problem)}`)
    super('CONFIG_INVALID', `${count} in the configuration:\n${lines.join('\n')}`, { details: { problems } })
    this.problems = problems
  }
}

/** `server.config.json: server_port: found "x", allowed: a whole number from 1 to 65535`. */
export function formatProblem(problem: ConfigProblem): string {
  if (problem.message !== undefined) return problem.message
  const place = [problem.file, problem.path].filter((part) => part !== '').join(': ')
  return `${place}: found ${problem.found}, allowed: ${problem.allowed}`
}

/** The origin of a normalised path: an alias in the file, or a variable. */
export type OriginOf = (path: Path) => { readonly file: string; readonly path: string }

/** Turns the complaints of a schema about `value` into problems, one for each place. */
export function problemsFromIssues(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  originOf: OriginOf,
): ConfigProblem[] {
  const problems = issues
    .flatMap(alternativesOf)
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownKey(issue, key, value, originOf))
        : [problemAt(placeOf(issue), issue.message, value, originOf)],
    )
  const places = new Set<string>()
  return problems.filter((problem) => {
    const place = `${problem.file} ${problem.path}`
    return !places.has(place) && places.add(place)
  })
}

/**
 * Where one of several forms was meant and only something inside of it is wrong, what is wrong there; the issue itself
 * where no form fits.
 */
function alternativesOf(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const meant = issue.errors.filter((inner) =>
    inner.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  )
  const [only] = meant
  if (meant.length !== 1 || only === undefined) return [issue]
  return only.flatMap((inner) => alternativesOf({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** A problem at a normalised path of `value`. */
export function problemAt(path: Path, allowed: string, value: unknown, originOf: OriginOf): ConfigProblem {
  return { ...originOf(path), found: showFound(path, valueAt(value, path)), allowed }
}

function placeOf(issue: z.core.$ZodIssue): Path {
  return issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))
}

function unknownKey(issue: z.core.$ZodIssue, key: string, value: unknown, originOf: OriginOf): ConfigProblem {
  const path = [...placeOf(issue), key]
  const shown = key.length > 80 ? `${key.slice(0, 80)}…` : key
  return {
    file: originOf(path).file,
    path: formatPath([...placeOf(issue).slice(0, -1), ...placeOf(issue).slice(-1), shown]),
    found: `an unknown key with ${showFound(path, valueAt(value, path))}`,
    allowed: describeKeys(key, issue.message),
  }
}

/** @param known the keys with spaces between, see `section` in fields.ts. */
function describeKeys(found: string, known: string): string {
  const keys = known.split(' ')
  const likely = likelyOf(found, keys)
  return likely === undefined ? `the keys ${keys.join(', ')}` : `the nearest known key is "${likely}"`
}

const LONGEST_SHOWN = 100
/** The beginning of JSON with keys or strings, whose secrets only a parser finds. */
const LIKE_JSON = /^\s*[[{][^]*"/

/** A value as a problem shows it: short JSON without secrets. */
export function showFound(path: Path, value: unknown): string {
  if (value === undefined) return 'nothing'
  const isSecret = path.some((part) => typeof part === 'string' && isSecretKey(part))
  if (isSecret && value !== '' && value !== null) return REDACTED_TEXT
  if (typeof value === 'string' && LIKE_JSON.test(value)) return showJsonText(path, value)
  const json = JSON.stringify(typeof value === 'string' ? redactUrls(value) : redactSecrets(value))
  return json.length > LONGEST_SHOWN ? `${json.slice(0, LONGEST_SHOWN)}…` : json
}

function showJsonText(path: Path, text: string): string {
  try {
    return showFound(path, JSON.parse(text))
  } catch {
    return 'text that is no valid JSON'
  }
}
