import { z } from 'zod'
import { argumentAliases, familyAliases, sectionAliases } from '../aliases.ts'
import { connectionsSchema } from '../connections/index.ts'
import { settingVariables } from '../environment/index.ts'
import { allowedOf, unwrap } from '../fields.ts'
import { readersSchema } from '../schema/index.ts'
import { serverSchema } from '../schema/index.ts'
import { configFiles } from '../types.ts'

/** One configuration key, for the documentation. */
export interface SettingRow {
  readonly file: string
  /** Path with `[]` for every list item, such as `namespaces[].args.limits.logs`. */
  readonly key: string
  /** Contract families whose list entries have the key; empty if the key does not depend on a family. */
  readonly families: readonly string[]
  readonly description: string
  readonly allowed: string
  /** JSON of the default; null if the key is required; '' if the key is optional without default. */
  readonly defaultValue: string | null
  /** Environment variables of the key, one per family, each followed by its former names; empty for sections. */
  readonly variables: readonly string[]
  /** Former names of the last part of `key`: in a file, each of them is read like the current name. */
  readonly aliases: readonly string[]
}

/** Lists every key of the configuration files in file order. A key that several families share is listed once. */
export function describeSettings(): SettingRow[] {
  return [
    ...describeFile(configFiles.connections, connectionsSchema, ''),
    ...describeFile(configFiles.server, serverSchema, ''),
    ...describeFile(configFiles.readers, readersSchema, ''),
  ]
}

function describeFile(file: string, schema: z.ZodType, prefix: string): SettingRow[] {
  const merged = new Map<string, SettingRow>()
  for (const row of walk(file, schema, prefix, [])) {
    const same = [row.key, row.description, row.defaultValue].join('\n')
    const known = merged.get(same)
    merged.set(same, known ? mergeRows(known, row) : row)
  }
  return [...merged.values()]
}

function mergeRows(known: SettingRow, row: SettingRow): SettingRow {
  return {
    ...known,
    families: [...known.families, ...row.families],
    variables: [...known.variables, ...row.variables],
    allowed: known.allowed === row.allowed ? known.allowed : `${known.allowed}, ${row.allowed}`,
    aliases: [...new Set([...known.aliases, ...row.aliases])],
  }
}

function walk(file: string, schema: z.ZodType, prefix: string, families: readonly string[]): SettingRow[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodArray) return walk(file, inner.element as z.ZodType, `${prefix}[]`, families)
  if (inner instanceof z.ZodUnion) {
    return (inner.options as z.ZodType[]).flatMap((option) =>
      walk(file, option, prefix, familyOf(option, families)),
    )
  }
  if (!(inner instanceof z.ZodObject)) return []
  return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`
    return [rowOf({ file, key, name, field, families }), ...walk(file, field, key, families)]
  })
}

/**
 * Contract families of an option of a Zod union: the family that the option's literal names, or all `families` if the
 * option has no literal.
 */
function familyOf(option: z.ZodType, families: readonly string[]): readonly string[] {
  if (!(option instanceof z.ZodObject)) return families
  const fields = Object.values(option.shape)
  const literal = fields.find((field) => field instanceof z.ZodLiteral)
  return literal instanceof z.ZodLiteral ? [String(literal.value)] : families
}

interface Setting {
  readonly file: string
  /** Path of the setting in the file, with `[]` for lists. */
  readonly key: string
  readonly name: string
  readonly field: z.ZodType
  readonly families: readonly string[]
}

function rowOf({ file, key, name, field, families }: Setting): SettingRow {
  const literal = field instanceof z.ZodLiteral ? JSON.stringify(field.value) : undefined
  const isList = unwrap(field) instanceof z.ZodArray
  return {
    file,
    key,
    families,
    description: field.description ?? '',
    allowed: literal ?? allowedOf(field) ?? (isList ? 'a list' : 'an object'),
    defaultValue: defaultOf(field),
    variables: variablesOf(file, key, families),
    aliases: aliasesOf(key, name, families),
  }
}

function defaultOf(field: z.ZodType): string | null {
  if (field instanceof z.ZodDefault) return JSON.stringify(field.def.defaultValue)
  if (field instanceof z.ZodPrefault) return JSON.stringify(field.def.defaultValue)
  if (field instanceof z.ZodOptional) return ''
  return null
}

function variablesOf(file: string, key: string, families: readonly string[]): string[] {
  return settingVariables
    .filter(({ part, key: own, steps }) => {
      const family = steps.find((step) => typeof step === 'object')?.family
      return configFiles[part] === file && own === key && (family === undefined || families.includes(family))
    })
    .flatMap(({ name, aliases }) => [name, ...aliases])
}

function aliasesOf(key: string, name: string, families: readonly string[]): string[] {
  if (name === 'name' || name === 'handler') return namesFor(familyAliases, families[0] ?? '')
  if (key.includes('.args.')) return namesFor(argumentAliases, name)
  return key === name ? namesFor(sectionAliases, name) : []
}

function namesFor(aliases: Readonly<Record<string, string>>, today: string): string[] {
  return Object.keys(aliases).filter((alias) => aliases[alias] === today)
}
