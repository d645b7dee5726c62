import { configFiles, formatPath } from '../../core/config/index.ts'
import { splitHostAndPort } from '../../core/config/address/index.ts'
import type { ConfigPart, ConfigProblem } from '../../core/config/index.ts'
import { overlayEnvironment, placesOf, settingVariables } from '../../core/config/environment/index.ts'
import type { SettingVariable } from '../../core/config/environment/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { withContainerPaths } from './operator-files.ts'
import { parseOwnFile } from './own-files.ts'
import type { OwnFiles } from './own-files.ts'
import type { Resolved, Values } from './resolved.ts'
import type { Secrets } from './secrets.ts'
import { fillJson, readTemplate } from './template.ts'
import type { Lookup } from './template.ts'
import { isJsonList, splitList } from './variables.ts'
import type { variables } from './variables.ts'

/** Services for which the configuration files are rendered, each with the service's own database role. */
export const services = ['filler', 'api', 'state'] as const
type Service = (typeof services)[number]

interface ServicePlan {
  readonly resolved: Resolved
  readonly secrets: Secrets
  readonly service: Service
  readonly own: OwnFiles
}

/** The configuration files of a service, and the variables that set their values. */
interface ServiceFiles {
  readonly parts: Record<ConfigPart, unknown>
  readonly origins: Partial<Record<ConfigPart, ReadonlyMap<string, string>>>
}

/**
 * The configuration files of one service: the operator's JSON file if `CONFIG_FILES` has one, else a template with the
 * variables applied. Problems of an operator's file are added to `problems`. Families without an account are left out.
 */
export function renderJson(plan: ServicePlan, problems: ConfigProblem[]): ServiceFiles {
  const { values } = plan.resolved
  const given = withContainerPaths(plan.resolved.given)
  const lookup = lookUp(plan)
  const origins: Partial<Record<ConfigPart, ReadonlyMap<string, string>>> = {}
  const fill = (part: ConfigPart): unknown => {
    const own = plan.own.texts.get(part)
    if (own !== undefined) return parseOwnFile(part, own, lookup, problems)
    const { text, missing } = fillJson(readTemplate(configFiles[part]), lookup)
    if (missing.length > 0) {
      const names = missing.join(', ')
      throw new FatalError(
        'INSTALLATION_BROKEN',
        `the template of ${configFiles[part]} uses ${names}, which nothing sets`,
      )
    }
    const content = withoutUnused(values, part, JSON.parse(text))
    const { POSTGRES_REPLICAS: _short, ...rest } = given
    const overlaid = overlayEnvironment(part, content, rest)
    origins[part] = new Map([...placeholdersOf(plan, part), ...overlaid.variables])
    return overlaid.value
  }
  return {
    parts: { connections: fill('connections'), server: fill('server'), readers: fill('readers') },
    origins,
  }
}

/** Prefix of a marker for a variable; no template value begins with it. */
const MARK = '\0'

/** Which variable sets which key of a configuration template: names of variables by the formatted path of the key. */
function placeholdersOf(
  { resolved: { values } }: ServicePlan,
  part: ConfigPart,
): ReadonlyMap<string, string> {
  const { text } = fillJson(readTemplate(configFiles[part]), (name) =>
    // An account that is `none` gets no marker. So the family of the account is removed here, as in the rendered file.
    Object.hasOwn(values, name) && values[name as keyof typeof variables] === NONE ? NONE : `${MARK}${name}`,
  )
  const found = new Map<string, string>()
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value === 'string' && value.startsWith(MARK)) found.set(formatPath(path), value.slice(1))
    else if (Array.isArray(value)) value.forEach((each, at) => visit(each, [...path, at]))
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) visit(each, [...path, key])
  }
  visit(withoutUnused(values, part, JSON.parse(text)), [])
  return found
}

/**
 * Value of `${NAME}` in the files of a service: the set variable, else a value of the appliance, else the default of
 * the setting.
 */
function lookUp({ resolved, secrets, service }: ServicePlan): Lookup {
  const { values } = resolved
  const given = withContainerPaths(resolved.given)
  const generated: Readonly<Record<string, string>> = {
    POSTGRES_USER: `pronghorn_${service}`,
    POSTGRES_PASSWORD: secrets[service],
    REDIS_PASSWORD: secrets.redis,
  }
  return (name) => {
    if (name === 'POSTGRES_REPLICAS') return listReplicas(values.POSTGRES_REPLICAS)
    // envalid throws for a name that it does not know.
    const own = Object.hasOwn(values, name) ? String(values[name as keyof typeof variables]) : undefined
    const known = given[name] ?? generated[name] ?? own
    if (known !== undefined) return known
    const setting = settingVariables.find((each) => each.name === name || each.aliases.includes(name))
    const standard: unknown = setting?.schema.safeParse(undefined).data
    return standard === undefined
      ? undefined
      : typeof standard === 'string'
        ? standard
        : JSON.stringify(standard)
  }
}

/** JSON for `sqldb.replicas`. */
function listReplicas(text: string): string {
  if (isJsonList(text)) return text
  return JSON.stringify(text === '' ? [] : splitList(text).map(splitHostAndPort))
}

/** The account that stands for a family that the operator left out. */
const NONE = 'none'

interface Named {
  readonly args: Readonly<Record<string, unknown>>
}

/**
 * Removes parts of a rendered file that the operator does not use: families without an account; with TLS_MODE=off,
 * `tls_proxy`, whose certificate the api watches; with an external Redis, the generated Redis password. The operator's
 * Redis password is set later.
 */
function withoutUnused(values: Values, part: ConfigPart, content: unknown): unknown {
  if (part === 'connections' && !values.REDIS_BUNDLED) {
    const { kvstore, ...rest } = content as { kvstore: object }
    return { ...rest, kvstore: { ...kvstore, password: undefined } }
  }
  if (part === 'server') {
    const server = withoutUnusedNamespaces(content)
    return values.TLS_MODE === 'off' ? { ...(server as object), tls_proxy: undefined } : server
  }
  return part === 'readers' ? withoutUnusedHandlers(content) : content
}

function withoutUnusedNamespaces(server: unknown): unknown {
  const { namespaces, ...rest } = server as { namespaces: (Named & { name: string })[] }
  return { ...rest, namespaces: namespaces.filter(({ name, args }) => args[`${name}_account`] !== NONE) }
}

function withoutUnusedHandlers(readers: unknown): unknown {
  return (readers as { contracts: (Named & { handler: string })[] }[]).map((reader) => ({
    ...reader,
    contracts: reader.contracts.filter(({ handler, args }) => args[`${handler}_account`] !== NONE),
  }))
}

/** A problem at a key of a rendered file, reported under the variable that sets this key. */
export function nameVariable(
  problem: ConfigProblem,
  parts: Readonly<Record<ConfigPart, unknown>>,
  own: OwnFiles,
): ConfigProblem {
  const { file, allowed } = problem
  for (const setting of settingVariables) {
    const { part, steps } = setting
    if (configFiles[part] !== file || own.texts.has(part)) continue
    const place = placesOf(parts[part], steps)
      .map(formatPath)
      // The variable of a list also sets the entries of the list.
      .find((path) => problem.path === path || problem.path.startsWith(`${path}[`))
    if (place === undefined) continue
    const path = `${shortName(setting)}${problem.path.slice(place.length)}`
    return { ...problem, file: 'environment', path, allowed: withVariables(allowed, setting) }
  }
  const named =
    file === 'environment' ? settingVariables.find((each) => isNamed(each, problem.path)) : undefined
  return named === undefined ? problem : { ...problem, allowed: withVariables(allowed, named) }
}

/**
 * The first alias of a variable, which is documented for operators and shorter than the name derived from the key. A
 * variable without alias keeps its derived name.
 */
const shortName = ({ name, aliases }: SettingVariable): string => aliases[0] ?? name
const isNamed = ({ name, aliases }: SettingVariable, path: string): boolean =>
  [name, ...aliases].includes(path)

/** Matches a configuration key in the text of a setting: `KEY` is in the same section, `KEY` of FILE in that file. */
const KEY = /`(\w+)`(?: of (\w+\.config\.json))?/g

/** Replaces the keys in the message of a setting by the variables that set these keys. */
function withVariables(allowed: string, beside: SettingVariable): string {
  return allowed.replaceAll(KEY, (all: string, key: string, file: string | undefined) => {
    const section = beside.key.slice(0, beside.key.lastIndexOf('.') + 1)
    const meant = settingVariables.find((each) =>
      file === undefined
        ? each.part === beside.part && each.key === `${section}${key}`
        : configFiles[each.part] === file && each.key.replace('[].', '') === key,
    )
    return meant === undefined ? all : shortName(meant)
  })
}

/** Removes duplicate problems: one variable may occur at several places. */
export function distinct(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [
    ...new Map(
      problems.map((problem) => [[problem.file, problem.path, problem.allowed].join(' '), problem]),
    ).values(),
  ]
}
