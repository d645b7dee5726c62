import type { z } from 'zod'
import { FatalError } from '../errors/index.ts'
import { isSecretKey, redactSecrets, redactUrls, REDACTED_TEXT } from '../log/index.ts'
import { likelyOf } from './nearest.ts'
import type { Path } from './path.ts'
import { formatPath, valueAt } from './path.ts'

/** One error of the configuration. */
export interface ConfigProblem {
  /** File name, or `environment`. */
  readonly file: string
  /** JSON path as the operator wrote it, such as `[0].contracts[1].args`, or a variable name; '' for the whole file. */
  readonly path: string
  /** Value found, as shortened JSON without secrets; `nothing` if the value is missing. */
  readonly found: string
  /** Allowed values, in words. */
  readonly allowed: string
  /** Complete message, for problems that `found` and `allowed` cannot describe. */
  readonly message?: string
}

/** A warning about a value that was corrected or that an operator should check. The process starts anyway. */
export interface ConfigWarning {
  readonly file: string
  readonly path: string
  readonly message: string
}

/** All problems of a configuration in one error (code CONFIG_INVALID); `problems` is never empty. */
export class ConfigError extends FatalError {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    const lines = problems.map((problem) => `  ${formatProblem(problem)}`)
    super('CONFIG_INVALID', `${count} in the configuration:\n${lines.join('\n')}`, { details: { problems } })
    this.problems = problems
  }
}

/** Formats a problem, such as `server.config.json: server_port: found "x", allowed: a whole number from 1 to 65535`. */
export function formatProblem(problem: ConfigProblem): string {
  if (problem.message !== undefined) return problem.message
  const place = [problem.file, problem.path].filter((part) => part !== '').join(': ')
  return `${place}: found ${problem.found}, allowed: ${problem.allowed}`
}

/**
 * Finds where a setting was set, from its path with current names: returns the path in a file, or an environment
 * variable.
 */
export type OriginOf = (path: Path) => { readonly file: string; readonly path: string }

/** Converts zod issues about `value` to problems, one per location. */
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
 * Replaces a Zod issue of a union by the issues of the option that the operator meant: the only option that accepts the
 * value itself and refuses only members of the value. Returns the issue itself if several options qualify.
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

/**
 * Creates the problem for the setting at `path`.
 * @param value content of the configuration, in which current setting names have replaced the former names.
 */
export function problemAt(path: Path, allowed: string, value: unknown, originOf: OriginOf): ConfigProblem {
  return { ...originOf(path), found: showFound(path, valueAt(value, path)), allowed }
}

function placeOf(issue: z.core.$ZodIssue): Path {
  return issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))
}

function unknownKey(issue: z.core.$ZodIssue, key: string, value: unknown, originOf: OriginOf): ConfigProblem {
  const path = [...placeOf(issue), key]
  const shown = key.length > 80 ? `${key.slice(0, 80)}…` : key
  const { file, path: section } = originOf(placeOf(issue))
  return {
    file,
    path: section === '' ? formatPath([shown]) : `${section}${formatPath([0, shown]).slice('[0]'.length)}`,
    found: `an unknown key with the value ${showFound(path, valueAt(value, path))}`,
    allowed: describeKeys(key, issue.message),
  }
}

/** @param known valid keys of the object that contains the unknown key `found`, separated by spaces. */
function describeKeys(found: string, known: string): string {
  const keys = known.split(' ')
  const likely = likelyOf(found, keys)
  return likely === undefined ? `the keys ${keys.join(', ')}` : `the nearest known key is "${likely}"`
}

const LONGEST_SHOWN = 100
/** Text that looks like the start of JSON with keys or strings: only a parser could find secrets in it. */
const LIKE_JSON = /^\s*[[{][^]*"/

/** Formats a value for a problem: short JSON without secrets. */
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
