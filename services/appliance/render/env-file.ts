import { readFileSync, statSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { likelyOf, showFound } from '../../core/config/index.ts'
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
  /** No line can be read; the only problem says why. */
  readonly isUnreadable?: true
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
    return unreadable(`${facts.size} bytes`, `at most ${MAX_FILE_BYTES} bytes`)
  }
  try {
    return parseEnvFile(readFileSync(path, 'utf8'), environment)
  } catch {
    return null
  }
}

function unreadable(found: string, allowed: string): EnvFile {
  return { values: {}, problems: [{ file: '.env', path: '', found, allowed }], isUnreadable: true }
}

/** Stands for bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd'

/** Reads the text of an `.env`. */
export function parseEnvFile(text: string, environment: Environment): EnvFile {
  if (text.includes('\0')) return unreadable('text in UTF-16', 'text in UTF-8: save the file as UTF-8')
  const values: Record<string, string> = {}
  const problems: ConfigProblem[] = []
  const lines = new Map<string, number>()
  const refuse = (path: string, found: string, allowed: string): void => {
    problems.push({ file: '.env', path, found, allowed })
  }
  if (text.split('\n').some((line) => line.endsWith('\r') && !/^\s*(?:#|$)/.test(line)))
    refuse('', 'lines that end in CR LF', "line ends of Unix: sed -i 's/\\r$//' .env")
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
      if ('text' in value) values[name] = value.text
      else refuse(name, `${showFound([name], rest.trim())}, ${value.why}`, value.allowed)
      // Of a reference to a variable of its shell, Compose has given the container the value.
      const isFilled = 'text' in value && (environment[name] ?? '') !== '' && environment[name] !== value.text
      for (const missing of 'text' in value && !isFilled ? value.missing : [])
        refuse(
          name,
          `${showFound([name], rest.trim())}, where ${missing} is not set`,
          `a variable of a line above or of the shell; $$ for a dollar sign`,
        )
    })
  return { values, problems }
}

/** What a line sets, and the variables that it refers to in vain; or why it sets nothing. */
type LineValue =
  | { readonly text: string; readonly missing: readonly string[] }
  | { readonly why: string; readonly allowed: string }

function valueOf(rest: string, known: Environment): LineValue {
  const text = rest.trim()
  const quote = text[0]
  if (text.includes(REPLACEMENT)) return { why: 'with bytes that are no UTF-8', allowed: 'text in UTF-8' }
  if (quote === '"' || quote === "'") {
    const end = closingQuote(text, quote)
    const after = text.slice(end + 1).trim()
    if (end < 0 || (after !== '' && !after.startsWith('#'))) {
      return {
        why: 'whose quotes do not enclose it',
        allowed: 'the value without quotes, or a quote at both ends',
      }
    }
    const inner = text.slice(1, end)
    if (quote === "'") return { text: inner, missing: [] }
    const filled = fillIn(inner, quotedReference, known)
    return { ...filled, text: filled.text.replaceAll(/\\(["\\$])/g, '$1') }
  }
  if (TYPOGRAPHIC_QUOTES.test(text)) {
    return { why: 'in typographic quotes', allowed: 'the value without quotes, or within " or \'' }
  }
  return fillIn(text.replace(/\s+#.*$/, '').replace(/^#.*$/, ''), REFERENCE, known)
}

const REFERENCE = /\$\$|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+?])([^{}]*))?\})/g
/** Within double quotes a backslash makes a dollar sign one. */
const quotedReference = new RegExp(String.raw`\\\$|${REFERENCE.source}`, 'g')

/**
 * Text in which `$NAME`, `${NAME}`, `${NAME:-otherwise}` and `${NAME:+instead}` are filled in, as Compose does; `$$` is a
 * dollar sign.
 */
function fillIn(text: string, reference: RegExp, known: Environment) {
  const missing: string[] = []
  const filled = text.replaceAll(reference, (...groups: (string | undefined)[]) => {
    const [all = '', plain, braced, sign = '', word = ''] = groups
    const name = plain ?? braced
    if (name === undefined) return all === '$$' ? '$' : all
    const found = known[name]
    const isThere = found !== undefined && !(sign.startsWith(':') && found === '')
    if (sign.endsWith('+')) return isThere ? word : ''
    if (isThere) return found
    if (!sign.endsWith('-')) missing.push(name)
    return sign.endsWith('-') ? word : ''
  })
  return { text: filled, missing }
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

/** Names that other images read, and why nothing here does. */
const inVain: Readonly<Record<string, string>> = {
  TZ: 'nothing: every log, schedule and time of an answer is in UTC',
}

/** The known names that are near an unknown one, as a sentence. */
function describeKnown(name: string): string {
  if (Object.hasOwn(inVain, name)) return inVain[name]!
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
