import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../services/core/paths/index.ts'

/**
 * Reads settings of PostgreSQL from the template of the appliance.
 * @throws Error if the template has no such setting.
 */
export function applianceSettings(...names: readonly string[]): Record<string, string> {
  const template = readFileSync(join(packageRoot, 'config-templates/postgresql.conf.template'), 'utf8')
  return Object.fromEntries(
    names.map((name) => {
      const value = new RegExp(`^${name} = (.+)$`, 'm').exec(template)?.[1]
      if (value === undefined) throw new Error(`the template of the appliance has no setting ${name}`)
      return [name, value]
    }),
  )
}
