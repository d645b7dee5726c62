import { readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { parse } from 'yaml'
import type { ConfigProblem } from '../../core/config/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import type { OperatorPlaces } from './host-paths.ts'

/** The base compose file. The other compose files override parts of it. */
export const COMPOSE_BASE = 'docker-compose.yml'
/** Files that Compose reads by default. */
const standardFiles = [COMPOSE_BASE, 'docker-compose.override.yml']

/** The files that `COMPOSE_FILE` names; empty if the variable is not set. */
export function listComposeFiles(given: Environment): readonly string[] {
  const { COMPOSE_FILE = '', COMPOSE_PATH_SEPARATOR = ':' } = given
  return COMPOSE_FILE === '' ? [] : COMPOSE_FILE.split(COMPOSE_PATH_SEPARATOR)
}

/** Problems of `COMPOSE_FILE`, the list of files that Compose reads. */
export function checkComposeFiles(given: Environment, { project }: OperatorPlaces): ConfigProblem[] {
  // Compose files at absolute paths are not checked: the container that checks settings has only the project folder.
  const paths = listComposeFiles(given).filter((path) => !isAbsolute(path))
  if (project === undefined) return []
  return paths.flatMap((path) => {
    const text = readText(join(project, path))
    if (text !== undefined && parseComposeFile(text) !== undefined) return []
    const why = text === undefined ? 'is no file' : 'is no compose file'
    const found = `${JSON.stringify(given.COMPOSE_FILE)}, where ${path} ${why}`
    const allowed = 'files of the project such as docker-compose.yml, separated by colons'
    return [{ file: 'environment', path: 'COMPOSE_FILE', found, allowed }]
  })
}

/**
 * Variables that the compose files in use read from `.env`.
 * @returns undefined if a file cannot be read: that file may use any variable.
 */
export function namesOfComposeFiles(
  given: Environment,
  { project }: Pick<OperatorPlaces, 'project'>,
): ReadonlySet<string> | undefined {
  const named = listComposeFiles(given)
  if (project === undefined) return named.length > 1 ? undefined : new Set()
  const names = new Set<string>()
  for (const path of named.length > 0 ? named : standardFiles) {
    const text = isAbsolute(path) ? undefined : readText(join(project, path))
    if (text === undefined && isAbsolute(path)) return undefined
    for (const name of namesOfText(text ?? '')) names.add(name)
  }
  return names
}

/** Matches `$NAME` and `${NAME…}`; `$$` is an escaped dollar sign. */
const REFERENCE = /\$\$|\$\{?([A-Za-z_]\w*)/g

function namesOfText(text: string): string[] {
  const referred = [...text.matchAll(REFERENCE)].flatMap(([, name]) => name ?? [])
  return [...referred, ...namesPassedOn(parseComposeFile(text))]
}

/**
 * Variables that a compose file passes to containers without a value: `environment: [NAME]` and `environment: {NAME:}`
 * of services, `environment: NAME` of secrets.
 */
function namesPassedOn(content: unknown): string[] {
  if (Array.isArray(content)) return content.flatMap(namesPassedOn)
  if (!isObject(content)) return []
  const { environment: passed, ...rest } = content
  const own = typeof passed === 'string' ? [passed] : isObject(passed) ? namesWithout(passed) : listOf(passed)
  return [...own, ...Object.values(rest).flatMap(namesPassedOn)]
}

const namesWithout = (passed: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(passed).filter((name) => passed[name] === null)
const listOf = (passed: unknown): string[] =>
  Array.isArray(passed)
    ? passed.filter((each): each is string => typeof each === 'string' && !each.includes('='))
    : []

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The parsed text, if it has the structure of a compose file of the project. */
function parseComposeFile(text: string): unknown {
  try {
    // Custom tags such as !reset belong to Compose and are ignored.
    const content: unknown = parse(text, { logLevel: 'silent', merge: true })
    return isObject(content) && ['services', 'networks', 'volumes'].some((key) => isObject(content[key]))
      ? content
      : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
