import { formatPath, isObject } from '../path.ts'
import type { Path } from '../path.ts'
import type { ConfigPart } from '../types.ts'
import type { Environment } from './environment.ts'
import { EACH, parseVariable, settingVariables } from './setting-variables.ts'
import type { SettingStep, SettingVariable } from './setting-variables.ts'

/** Content of a file after environment variables were applied. */
export interface Overlaid {
  readonly value: unknown
  /** Maps the path of a setting, such as `chain.http`, to the environment variable that supplied its value. */
  readonly variables: ReadonlyMap<string, string>
}

/** Finds the environment variable of a setting, also under former names; an empty variable counts as absent. */
export function findVariable(
  setting: SettingVariable,
  environment: Environment,
): { readonly name: string; readonly text: string } | undefined {
  for (const name of [setting.name, ...setting.aliases]) {
    const text = environment[name]
    if (text !== undefined && text !== '') return { name, text }
  }
  return undefined
}

/** Applies environment variables to the content of a file; variables take precedence. Returns a changed copy. */
export function overlayEnvironment(part: ConfigPart, content: unknown, environment: Environment): Overlaid {
  const variables = new Map<string, string>()
  if (typeof content !== 'object' || content === null) return { value: content, variables }
  let value: unknown = content
  let isOff = false
  for (const setting of settingVariables) {
    const found = setting.part === part ? findVariable(setting, environment) : undefined
    if (found === undefined) continue
    const leaf = parseVariable(setting, found.text)
    if (setting.key.startsWith('kvstore.tls.') && setting.schema.safeParse(leaf).success) {
      // If a variable turns TLS off, ignore a variable with the file of a certificate authority.
      if (isOff || !qualifiesTls(value, leaf)) continue
    }
    if (setting.key === 'kvstore.tls') isOff = leaf === false
    value = layAt(value, setting.steps, {
      leaf,
      path: [],
      set: (path) => variables.set(formatPath(path), found.name),
    })
  }
  return { value, variables }
}

/**
 * Whether a valid variable applies to `kvstore.tls`. If TLS is off, a variable with the file of a certificate authority
 * switches TLS on. A variable that only sets the strictness of the certificate check does not switch TLS on.
 */
function qualifiesTls(value: unknown, leaf: unknown): boolean {
  const tls = isObject(value) && isObject(value.kvstore) ? value.kvstore.tls : undefined
  if (tls === undefined || tls === false) return typeof leaf === 'string'
  return tls === true || isObject(tls)
}

/**
 * Reads the value of a setting from the content of a configuration file. A step through a list leads to the list's
 * first entry; a step with a contract family leads to the entry of this family.
 */
export function valueAt(content: unknown, steps: readonly SettingStep[]): unknown {
  return steps.reduce<unknown>((value, step) => {
    if (step === EACH) return Array.isArray(value) ? (value as unknown[])[0] : undefined
    if (typeof step === 'string') return isObject(value) ? value[step] : undefined
    const entries: unknown[] = Array.isArray(value) ? value : []
    return entries.find((entry) => isObject(entry) && entry[step.key] === step.family)
  }, content)
}

/**
 * Paths of a setting in the content of a file: one for each matching list entry, even if the entry lacks the
 * key.
 */
export function placesOf(content: unknown, [step, ...rest]: readonly SettingStep[]): Path[] {
  if (step === undefined) return [[]]
  if (typeof step === 'string' && step !== EACH)
    return placesOf(isObject(content) ? content[step] : undefined, rest).map((path) => [step, ...path])
  const entries: unknown[] = Array.isArray(content) ? content : []
  return entries.flatMap((entry, at) =>
    typeof step === 'string' || (isObject(entry) && entry[step.key] === step.family)
      ? placesOf(entry, rest).map((path) => [at, ...path])
      : [],
  )
}

interface Laying {
  readonly leaf: unknown
  readonly path: Path
  /** Called with each path at which the environment variable set its value. */
  readonly set: (path: Path) => void
}

function layAt(value: unknown, steps: readonly SettingStep[], laying: Laying): unknown {
  const [step, ...rest] = steps
  if (step === undefined) {
    laying.set(laying.path)
    return laying.leaf
  }
  const next = (inner: unknown, at: string | number): unknown =>
    layAt(inner, rest, { ...laying, path: [...laying.path, at] })
  if (step === EACH) return Array.isArray(value) ? value.map((entry: unknown, at) => next(entry, at)) : value
  if (typeof step === 'string') {
    const object = isObject(value) ? value : {}
    return { ...object, [step]: next(object[step], step) }
  }
  const list: unknown[] = Array.isArray(value) ? value : []
  const isOfFamily = (entry: unknown): boolean => isObject(entry) && entry[step.key] === step.family
  const entries = list.some(isOfFamily) ? list : [...list, { [step.key]: step.family, args: {} }]
  return entries.map((entry, at) => (isOfFamily(entry) ? next(entry, at) : entry))
}
