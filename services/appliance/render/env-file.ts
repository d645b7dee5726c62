import { readFileSync, statSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { likelyOf } from '../../core/config/index.ts'
import type { ConfigProblem } from '../../core/config/index.ts'
import { settingVariables } from '../../core/config/environment/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import { containerVariables, operatorStateVariables, otherNames } from './container-variables.ts'
import { variables } from './variables.ts'

/** What an `.env` holds. */
export interface EnvFile {
  readonly values: Readonly<Record<string, string>>
  /** Lines that set nothing, or not what they seem to. */
  readonly problems: readonly ConfigProblem[]
}

const MAX_FILE_BYTES = 1_048_576
const LINE = /^\s*(?:export\s+)?([^\s=#]+)\s*(=?)\s*(.*)$/
const NAME = /^[A-Za-z_][\w.-]*$/
const TYPOGRAPHIC_QUOTES = /^[\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb`\u00b4]/

/** Every name that something of the appliance reads. */
export const knownNames: readonly string[] = [
  ...Object.keys(variables),
  ...Object.keys(containerVariables),
  ...operatorStateVariables.map(({ name }) => name),
  ...settingVariables.flatMap(({ name, aliases }) => [name, ...aliases]),
  ...otherNames,
]

/**
 * Reads an `.env` line by line, as Compose does: quotes and comments are taken off, and variables filled in.
 * @param environment what `${NAME}` may stand for besides the lines above it.
 * @returns undefined where there is no such file; null where it is there and cannot be read.
 */
export function readEnvFile(path: string, environment: Environment = {}): EnvFile | null | undefined {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts?.isFile()) return undefined
  if (facts.size > MAX_FILE_BYTES) {
    const allowed = `at most ${MAX_FILE_BYTES} bytes`
    return { values: {}, problems: [{ file: '.env', path: '', found: `${facts.size} bytes`, allowed }] }
  }
  try {
    return parseEnvFile(readFileSync(path, 'utf8'), environment)
  } catch {
    return null
  }
}

/** Reads the text of an `.env`. */
export function parseEnvFile(text: string, environment: Environment): EnvFile {
  const values: Record<string, string> = {}
  const problems: ConfigProblem[] = []
  const lines = new Map<string, number>()
  const refuse = (path: string, found: string, allowed: string): void => {
    problems.push({ file: '.env', path, found, allowed })
  }
  const withReturn = text.split('\n').find((line) => line.endsWith('\r') && !/^\s*(?:#|$)/.test(line))
  if (withReturn !== undefined) {
    const name = LINE.exec(withReturn.trimEnd())?.[1] ?? ''
    refuse(name, 'a line that ends in CR LF', "line ends of Unix: sed -i 's/\\r$//' .env")
  }
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .forEach((whole, at) => {
      const line = whole.replace(/\r$/, '')
      if (/^\s*(?:#|$)/.test(line)) return
      const [, name = '', sign = '', rest = ''] = LINE.exec(line) ?? []
      if (sign === '' || !NAME.test(name)) {
        refuse(
          name === '' ? `line ${at + 1}` : name.slice(0, 80),
          `line ${at + 1}, which sets nothing`,
          'NAME=value',
        )
        return
      }
      const first = lines.get(name)
      if (first !== undefined) refuse(name, `two lines, ${first} and ${at + 1}`, 'one line for each name')
      lines.set(name, at + 1)
      const value = valueOf(rest, { ...values, ...environment })
      if (typeof value === 'string') values[name] = value
      else refuse(name, value.found, value.allowed)
    })
  return { values, problems }
}

function valueOf(
  rest: string,
  known: Environment,
): string | { readonly found: string; readonly allowed: string } {
  const text = rest.trim()
  const quote = text[0]
  if (quote === '"' || quote === "'") {
    const end = closingQuote(text, quote)
    const after = text.slice(end + 1).trim()
    if (end < 0 || (after !== '' && !after.startsWith('#'))) {
      return {
        found: 'quotes that do not enclose the value',
        allowed: 'the value without quotes, or a quote at both ends',
      }
    }
    const inner = text.slice(1, end)
    return quote === "'" ? inner : fillIn(inner, known).replaceAll(/\\(["\\$])/g, '$1')
  }
  if (TYPOGRAPHIC_QUOTES.test(text)) {
    return {
      found: `${JSON.stringify(text[0])}, a typographic quote`,
      allowed: 'the value without quotes, or within " or \'',
    }
  }
  return fillIn(text.replace(/\s+#.*$/, '').replace(/^#.*$/, ''), known)
}

const VARIABLE = /(?<!\\)\$(?:([A-Za-z_]\w*)|\{(\w+)(?:(:?[-+])([^{}]*))?\})/g

/** Text in which `$NAME`, `${NAME}`, `${NAME:-otherwise}` and `${NAME:+instead}` are filled in, as Compose does. */
function fillIn(text: string, known: Environment): string {
  return text.replaceAll(VARIABLE, (...groups: (string | undefined)[]) => {
    const [, plain, braced, sign = '', word = ''] = groups
    const found = known[plain ?? braced ?? '']
    const isThere = found !== undefined && !(sign.startsWith(':') && found === '')
    if (sign.endsWith('+')) return isThere ? word : ''
    return isThere ? found : word
  })
}

function closingQuote(text: string, quote: string): number {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++
    else if (text[at] === quote) return at
  }
  return -1
}

/** A problem for each name that nothing reads. @param others further names that something reads. */
export function findUnknownNames(names: readonly string[], others: ReadonlySet<string>): ConfigProblem[] {
  return names
    .filter((name) => !knownNames.includes(name) && !others.has(name))
    .map((name) => ({
      file: 'environment',
      path: name,
      found: 'an unknown variable',
      allowed: describeKnown(name),
    }))
}

/** Prefixes of names that are meant for the appliance, wherever they come from. */
const OURS = /^(?:CHAIN|RATE_LIMIT|TLS|ACME|POSTGRES|REDIS|GRAPHQL)_/
/** So is a name within so few edits of a known one. */
const MISSPELT_EDITS = 2

/** Names of an environment that may hold those of the host, without the ones that are not meant for the appliance. */
export function namesMeantForUs(environment: Environment): string[] {
  return Object.keys(environment).filter(
    (name) =>
      name !== 'HOSTNAME' &&
      (OURS.test(name) || knownNames.some((known) => distance(name, known) <= MISSPELT_EDITS)),
  )
}

/** Names that a container has without an `.env`, those of the Dockerfile among them. */
const OF_CONTAINER =
  /^(?:PATH|HOME|HOSTNAME|TERM|PWD|OLDPWD|SHLVL|_|LANG|LC_\w+|TZ|container|NODE_\w+|PRONGHORN_MODE|YARN_VERSION|SSL_CERT_\w+|(?:https?|ftp|all|no)_proxy)$/i

/** The names in a container's environment that its `.env` has given it. */
export function namesOfContainer(environment: Environment): string[] {
  return Object.keys(environment).filter((name) => !OF_CONTAINER.test(name))
}

/** Shorter names end many known ones by chance: PATH, PORT. */
const LEAST_ENDING = 6
const MOST_SHOWN = 4

/** The known names that are near an unknown one, as a sentence. */
function describeKnown(name: string): string {
  const upper = name.toUpperCase().replaceAll(/[-.]/g, '_')
  const meant = knownNames.includes(upper) ? [upper] : namesAround(upper)
  return meant.length > 0
    ? `the nearest known variable is ${meant.slice(0, MOST_SHOWN).join(' or ')}`
    : 'a variable of docs/settings.md; none is near'
}

function namesAround(upper: string): readonly string[] {
  const longer = knownNames.filter((known) => known.endsWith(`_${upper}`) || known.startsWith(`${upper}_`))
  if (longer.length > 0 && upper.length >= LEAST_ENDING) return longer
  const likely = likelyOf(upper, knownNames)
  return likely === undefined ? [] : [likely]
}
