import { z } from 'zod'
import { isObject, valueAt } from './path.ts'
import { contractSchema, readerSchema } from './schema/index.ts'
import type { ContractConfig, ReaderConfig } from './schema/index.ts'
import { namespaceSchema, serverSchema } from './schema/index.ts'
import type { NamespaceConfig, ServerConfig } from './schema/index.ts'

/**
 * Checks across keys and files also run if single keys are invalid, so that an operator sees all problems at once. The
 * checks see the valid values: an invalid key is absent, an invalid list item undefined.
 */

/** Configuration of a reader, without the keys that have invalid values. */
export interface ReaderView extends Partial<Omit<ReaderConfig, 'contracts'>> {
  readonly contracts: readonly (ContractConfig | undefined)[]
}

/** Content of the server file, without the keys that have invalid values. */
export interface ServerView extends Partial<Omit<ServerConfig, 'namespaces'>> {
  readonly namespaces: readonly (NamespaceConfig | undefined)[]
}

/** Extracts the valid values of a readers file. */
export function viewReaders(value: unknown): ReaderView[] {
  if (!Array.isArray(value)) return []
  return value.map((reader: unknown) => {
    const fields = usableFields(readerSchema, reader) as Partial<ReaderConfig>
    const contracts = usableItems(contractSchema, valueAt(reader, ['contracts']))
    return { ...fields, contracts }
  })
}

/** Extracts the valid values of a server file. */
export function viewServer(value: unknown): ServerView {
  const fields = usableFields(serverSchema, value) as Partial<ServerConfig>
  return { ...fields, namespaces: usableItems(namespaceSchema, valueAt(value, ['namespaces'])) }
}

/** Copies a value without unknown keys: an unknown key must not invalidate its section. */
export function withoutUnknownKeys(value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = structuredClone(value)
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue
    const owner = valueAt(copy, issue.path as (string | number)[])
    if (isObject(owner)) for (const key of issue.keys) Reflect.deleteProperty(owner, key)
  }
  return copy
}

function usableFields(schema: z.ZodObject, value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([key, field]) => {
      const result = z.safeParse(field, value[key])
      return result.success ? [[key, result.data]] : []
    }),
  )
}

function usableItems<T extends z.ZodType>(item: T, value: unknown): (z.output<T> | undefined)[] {
  return Array.isArray(value) ? value.map((each: unknown) => item.safeParse(each).data) : []
}
