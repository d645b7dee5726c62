import { settingVariables, valueAt } from '../../core/config/environment/index.ts'
import type { SettingVariable } from '../../core/config/environment/index.ts'
import { configFiles } from '../../core/config/index.ts'
import type { ConfigPart } from '../../core/config/index.ts'
import {
  STATE_METRICS_PORT,
  chosenVariables,
  containerVariables,
  operatorStateVariables,
} from './container-variables.ts'
import { fillJson, readTemplate } from './template.ts'
import { variables } from './variables.ts'

/** A variable of `.env` that sets no key of the configuration files; for the documentation. */
interface ApplianceVariable {
  readonly name: string
  /** The value as written in `.env`; '' if there is no value. */
  readonly defaultText: string
  readonly description: string
}

interface Described {
  readonly default?: string | number | boolean | undefined
  readonly desc?: string | undefined
}

interface VariableList {
  readonly appliance: readonly ApplianceVariable[]
  readonly shipped: ReadonlyMap<string, string>
}

let listed: VariableList | undefined

/**
 * Variables of `.env` that set no key of the JSON files; and the default of every setting as text, by the name of its
 * variable. The list is made once in a process, because the templates of an installation do not change.
 */
export function listVariables(): VariableList {
  listed ??= { appliance: listApplianceVariables(), shipped: listShipped() }
  return listed
}

function listShipped(): Map<string, string> {
  const parts = Object.keys(configFiles) as ConfigPart[]
  const contents = new Map(parts.map((part) => [part, readShipped(part)]))
  return new Map(settingVariables.map((setting) => [setting.name, shippedText(setting, contents)]))
}

/** Variables of the appliance and variables that containers read. */
function listApplianceVariables(): ApplianceVariable[] {
  const own: [string, Described][] = Object.entries({
    ...chosenVariables,
    ...variables,
    ...containerVariables,
  })
  return [
    ...own.map(([name, spec]) => ({
      name,
      defaultText: textOf(name, spec.default),
      description: spec.desc ?? '',
    })),
    ...operatorStateVariables.map(({ name, defaultValue, description }) => ({
      name,
      defaultText: name === 'STATE_METRICS_PORT' ? String(STATE_METRICS_PORT) : defaultValue,
      description,
    })),
  ]
}

/** Value of a key that the operator does not set: the value in the template, else the default of the key. */
function shippedText(setting: SettingVariable, contents: ReadonlyMap<ConfigPart, unknown>): string {
  const inTemplate = valueAt(contents.get(setting.part), setting.steps)
  const value = inTemplate ?? setting.schema.safeParse(undefined).data
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Content of a settings template with the default of each variable; a variable without a default is empty. */
function readShipped(part: ConfigPart): unknown {
  const { text } = fillJson(readTemplate(configFiles[part]), (name) => {
    const spec: Described = name in variables ? variables[name as keyof typeof variables] : {}
    return String(spec.default ?? '')
  })
  return JSON.parse(text) as unknown
}

function textOf(name: string, value: string | number | boolean | undefined): string {
  if (name.endsWith('_MEMORY')) return `${Number(value) / 2 ** 30}g`
  return name === 'BACKUP_JOBS' || value === undefined ? '' : String(value)
}
