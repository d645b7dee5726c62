import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FatalError } from '../../core/errors/index.ts'
import { packageRoot } from '../../core/paths/index.ts'

/** Values of the placeholders of a template. */
export type Placeholders = Readonly<Record<string, string | number | boolean>>

const PLACEHOLDER = /\$\{([A-Z][A-Z0-9_]*)\}/g

/** Reads `config-templates/NAME.template`. @throws FatalError INSTALLATION_BROKEN */
function readTemplate(name: string): string {
  const path = join(packageRoot, 'config-templates', `${name}.template`)
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new FatalError('INSTALLATION_BROKEN', `the template ${name} cannot be read`, { cause })
  }
}

/**
 * Fills the `${NAME}` of a template. `escape` turns a value into what may stand in the text.
 * @throws FatalError INSTALLATION_BROKEN for a placeholder without a value.
 */
export function fillTemplate(
  name: string,
  values: Placeholders,
  escape: (value: string, variable: string) => string = (value) => value,
): string {
  return readTemplate(name).replaceAll(PLACEHOLDER, (_all, variable: string) => {
    const value = values[variable]
    if (value === undefined) {
      throw new FatalError('INSTALLATION_BROKEN', `the template ${name} uses ${variable}, which nothing sets`)
    }
    return escape(String(value), variable)
  })
}

/** A value as it may stand inside the quotes of a JSON text. */
export function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
