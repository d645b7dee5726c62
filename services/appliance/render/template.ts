import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseVariable, settingVariables } from '../../core/config/environment/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { packageRoot } from '../../core/paths/index.ts'

/** Values for the placeholders `${NAME}` of a template, by name. */
export type Placeholders = Readonly<Record<string, string | number | boolean>>

const PLACEHOLDER = /\$\{([A-Z][A-Z0-9_]*)\}/g
/** Matches a JSON string, or a placeholder outside of strings. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|\$\{([A-Z][A-Z0-9_]*)\}/g

/** Reads `config-templates/NAME.template`. @throws FatalError INSTALLATION_BROKEN */
export function readTemplate(name: string): string {
  const path = join(packageRoot, 'config-templates', `${name}.template`)
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new FatalError('INSTALLATION_BROKEN', `the template ${name} cannot be read`, { cause })
  }
}

/**
 * Fills the `${NAME}` of a template.
 * @throws FatalError INSTALLATION_BROKEN for a placeholder without a value.
 */
export function fillTemplate(name: string, values: Placeholders): string {
  return readTemplate(name).replaceAll(PLACEHOLDER, (_all, variable: string) => {
    const value = values[variable]
    if (value === undefined) {
      throw new FatalError('INSTALLATION_BROKEN', `the template ${name} uses ${variable}, which nothing sets`)
    }
    return String(value)
  })
}

/** Returns the text of a variable; undefined if the variable is not set. */
export type Lookup = (variable: string) => string | undefined

/**
 * Fills the `${NAME}` of a JSON text. Inside a JSON string, `${NAME}` becomes the text of the variable. Outside of
 * strings, it becomes the parsed value of the setting; a variable of no setting becomes JSON if its text is JSON, else
 * a string. References to variables without a value are not changed; their names are returned.
 */
export function fillJson(
  text: string,
  lookup: Lookup,
): { readonly text: string; readonly missing: readonly string[] } {
  const missing: string[] = []
  const valueOf = (variable: string): string | undefined => {
    const value = lookup(variable)
    if (value === undefined) missing.push(variable)
    return value
  }
  const filled = text.replaceAll(JSON_TOKEN, (token: string, bare: string | undefined) => {
    if (bare !== undefined) return jsonOf(bare, valueOf(bare)) ?? token
    return token.replaceAll(PLACEHOLDER, (all, variable: string) => {
      const value = valueOf(variable)
      return value === undefined ? all : JSON.stringify(value).slice(1, -1)
    })
  })
  return { text: filled, missing }
}

function jsonOf(variable: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const setting = settingVariables.find(
    ({ name, aliases }) => name === variable || aliases.includes(variable),
  )
  if (setting !== undefined) return JSON.stringify(parseVariable(setting, value))
  try {
    JSON.parse(value)
    return value
  } catch {
    return JSON.stringify(value)
  }
}
