import { z } from 'zod'
import { sectionAliases, variableAliases } from '../aliases.ts'
import { connectionsSchema } from '../connections/index.ts'
import { allowedOf, unwrap } from '../fields.ts'
import { formatPath } from '../path.ts'
import { problemsFromIssues, showFound } from '../problems.ts'
import type { ConfigProblem } from '../problems.ts'
import { readersSchema, serverSchema } from '../schema/index.ts'
import type { ConfigPart } from '../types.ts'

/**
 * A step on the path from a configuration file to a setting: a key of an object; `EACH` for all entries of a list; or a
 * `FamilyStep` for the list entries of one contract family.
 */
export type SettingStep = string | FamilyStep

/** Step to the list entries whose property `key` (`name` or `handler`) equals `family`. */
export interface FamilyStep {
  readonly key: string
  readonly family: string
}

/** Environment variable of one configuration key. */
export interface SettingVariable {
  /** Name of the environment variable, derived from the path of the setting by `nameVariable`. */
  readonly name: string
  /** Former names of the environment variable, which are still read. */
  readonly aliases: readonly string[]
  readonly part: ConfigPart
  readonly steps: readonly SettingStep[]
  /** Path as in docs/settings.md, such as `namespaces[].args.limits.logs`. */
  readonly key: string
  readonly schema: z.ZodType
}

/** Path step that stands for every entry of a list. No configuration key has this name. */
export const EACH = 'each'

/**
 * First word of the variables of each file. Variables of the connection file have no first word, because the section
 * names of that file are distinctive.
 */
const fileWords: Readonly<Record<ConfigPart, string>> = {
  connections: '',
  server: 'SERVER',
  readers: 'READER',
}

/**
 * Derives the variable name of a setting: the word of the file, then the words of the path in capitals. The name omits
 * the key of a list with one entry for each contract family (such as `namespaces`), the key `args` of such an entry,
 * and each word that equals the preceding word. Example: `namespaces[assets].args.assets_account` of server.config.json
 * becomes SERVER_ASSETS_ACCOUNT.
 */
function nameVariable(part: ConfigPart, steps: readonly SettingStep[]): string {
  const named = steps.flatMap((step, at) => {
    if (typeof step === 'object') return [step.family]
    const isList = typeof steps[at + 1] === 'object'
    const isArguments = step === 'args' && typeof steps[at - 1] === 'object'
    return step === EACH || isList || isArguments ? [] : [step]
  })
  const words = [fileWords[part], ...named]
    .flatMap((word) => word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').split('_'))
    .map((word) => word.toUpperCase())
    .filter((word, at, all) => word !== '' && word !== all[at - 1])
  return words.join('_')
}

/** All keys of the configuration files that an environment variable can set, in file order. */
export const settingVariables: readonly SettingVariable[] = [
  ...collect('connections', connectionsSchema, []),
  ...collect('server', serverSchema, []),
  ...collect('readers', readersSchema, []),
]

function collect(part: ConfigPart, schema: z.ZodType, steps: readonly SettingStep[]): SettingVariable[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) return collectKeys(part, inner, steps)
  if (inner instanceof z.ZodArray && steps.length === 0) {
    return collect(part, inner.element as z.ZodType, [EACH])
  }
  if (inner instanceof z.ZodArray) {
    const families = familiesOf(inner.element as z.ZodType)
    if (families.length > 0) {
      return families.flatMap(({ step, option }) => collectKeys(part, option, [...steps, step]))
    }
  }
  const objects =
    inner instanceof z.ZodUnion ? inner.options.filter((option) => option instanceof z.ZodObject) : []
  return [variableOf(part, steps, schema), ...objects.flatMap((option) => collectKeys(part, option, steps))]
}

function collectKeys(
  part: ConfigPart,
  section: z.ZodObject,
  steps: readonly SettingStep[],
): SettingVariable[] {
  return Object.entries(section.shape as Record<string, z.ZodType>).flatMap(([key, field]) =>
    // No variable for `name` or `handler`: the literal identifies the contract family of the entry.
    field instanceof z.ZodLiteral ? [] : collect(part, field, [...steps, key]),
  )
}

/**
 * Finds the options of a Zod union with one option per contract family, and for each option the path step to the
 * entries of its family. Empty for other schemas.
 */
function familiesOf(schema: z.ZodType): { step: FamilyStep; option: z.ZodObject }[] {
  const inner = unwrap(schema)
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return []
  return inner.options.flatMap((option) => {
    if (!(option instanceof z.ZodObject)) return []
    const entries = Object.entries(option.shape)
    return entries.flatMap(([key, field]) =>
      field instanceof z.ZodLiteral ? [{ step: { key, family: String(field.value) }, option }] : [],
    )
  })
}

function variableOf(part: ConfigPart, steps: readonly SettingStep[], schema: z.ZodType): SettingVariable {
  const name = nameVariable(part, steps)
  const [first = '', ...rest] = steps
  const formerSections = Object.keys(sectionAliases).filter(
    (alias) => part === 'connections' && sectionAliases[alias] === first,
  )
  const aliases = [
    ...formerSections.map((section) => nameVariable(part, [section, ...rest])),
    ...Object.keys(variableAliases).filter((alias) => variableAliases[alias] === name),
  ]
  return { name, aliases, part, steps, key: keyOf(steps), schema }
}

function keyOf(steps: readonly SettingStep[]): string {
  return steps.reduce<string>((path, step) => {
    if (step === EACH || typeof step === 'object') return `${path}[]`
    return path === '' ? step : `${path}.${step}`
  }, '')
}

const flags = new Map([
  ['true', true],
  ['false', false],
])

/**
 * Converts the text of a variable to a type that the key accepts: JSON, number, flag, comma-separated list or text. If
 * the text has none of the accepted types, JSON is returned parsed, so that the schema can name the wrong place in the
 * JSON; other text is returned unchanged.
 */
export function parseVariable({ schema }: Pick<SettingVariable, 'schema'>, found: string): unknown {
  const isNumber = /^\d{1,15}$/.test(found)
  const json = /^\s*[[{]/.test(found) ? parseJson(found) : []
  const candidates: unknown[] = [
    ...json,
    ...(isNumber ? [Number(found)] : []),
    ...(flags.has(found) ? [flags.get(found)] : []),
    ...(found.includes(',') ? [splitCommas(found)] : []),
    found,
    splitCommas(found),
  ]
  const taken = candidates.find((candidate) => schema.safeParse(candidate).success)
  if (taken !== undefined) return taken
  if (json.length > 0) return json[0]
  return isNumber && unwrap(schema) instanceof z.ZodNumber ? Number(found) : found
}

/**
 * Validates the text `found` of the variable `name`: returns one problem for plain text, and one per wrong place for
 * JSON.
 */
export function checkVariable(
  setting: Pick<SettingVariable, 'schema'>,
  name: string,
  found: string,
): ConfigProblem[] {
  const value = parseVariable(setting, found)
  const { error } = setting.schema.safeParse(value)
  if (error === undefined) return []
  const file = 'environment'
  if (typeof value === 'object')
    return problemsFromIssues(error.issues, value, (path) => ({ file, path: formatPath([name, ...path]) }))
  const allowed = allowedOf(setting.schema) ?? 'JSON as docs/settings.md describes it'
  return [{ file, path: name, found: showFound([name], value), allowed }]
}

function splitCommas(found: string): unknown[] {
  return found.split(',').map((each) => each.trim())
}

function parseJson(found: string): unknown[] {
  try {
    return [JSON.parse(found)]
  } catch {
    return []
  }
}
