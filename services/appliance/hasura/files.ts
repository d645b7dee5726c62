import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import type pg from 'pg'
import { hasuraFolder, readCatalogue } from './catalogue.ts'
import { generateMetadata, ROW_LIMIT } from './metadata.ts'
import type { MetadataFiles } from './metadata.ts'
import { readTables } from './schema.ts'

const folder = join(hasuraFolder, 'metadata')

async function metadataFor(client: pg.ClientBase): Promise<MetadataFiles> {
  const catalogue = await readCatalogue()
  return generateMetadata(catalogue, await readTables(client, catalogue.schemas))
}

async function readMetadataFiles(): Promise<MetadataFiles> {
  const files: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) files[path.slice(folder.length + 1)] = await readFile(path, 'utf8')
  }
  return files
}

/** Replaces the metadata in the repository by metadata generated from the schema of a migrated database. */
async function generateHasura(client: pg.ClientBase): Promise<void> {
  const files = await metadataFor(client)
  await rm(folder, { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/**
 * The differences between the metadata in the repository and the schema of a migrated database.
 * @param mode `write` first generates the metadata from the schema.
 */
export async function compareHasura(
  client: pg.ClientBase,
  mode: 'check' | 'write' = 'check',
): Promise<string[]> {
  if (mode === 'write') await generateHasura(client)
  const [stored, wanted] = [await readMetadataFiles(), await metadataFor(client)]
  const paths = [...new Set([...Object.keys(stored), ...Object.keys(wanted)])].sort()
  return paths.flatMap((path) => {
    if (stored[path] === undefined) return [`${path} is missing`]
    if (wanted[path] === undefined) return [`${path} describes a table that does not exist or is hidden`]
    if (stored[path] === wanted[path]) return []
    return differences(path, parse(stored[path]), parse(wanted[path]))
  })
}

interface TableFile {
  readonly select_permissions?: readonly { readonly permission: { readonly columns: readonly string[] } }[]
}

function differences(path: string, stored: unknown, wanted: unknown): string[] {
  const columns = (file: unknown): readonly string[] =>
    (file as TableFile).select_permissions?.[0]?.permission.columns ?? []
  const lost = columns(wanted).filter((column) => !columns(stored).includes(column))
  const extra = columns(stored).filter((column) => !columns(wanted).includes(column))
  const found = [
    ...lost.map((column) => `${path}: column ${column} is missing`),
    ...extra.map((column) => `${path}: column ${column} does not exist`),
  ]
  return found.length > 0 ? found : [`${path} differs`]
}

/** The metadata as one document, as Hasura's `replace_metadata` takes it. */
export async function assembleMetadata(rowLimit: number): Promise<unknown> {
  const files = await readMetadataFiles()
  const read = (path: string): unknown => parse(files[path] ?? 'null', { maxAliasCount: 0 })
  const sources = read('databases/databases.yaml') as Record<string, unknown>[]
  const included = read('databases/pronghorn/tables/tables.yaml') as string[]
  const tables = included.map((line) => read(`databases/pronghorn/tables/${line.replace('!include ', '')}`))
  for (const table of tables as { select_permissions: { permission: { limit: number } }[] }[]) {
    for (const { permission } of table.select_permissions)
      permission.limit = Math.min(rowLimit, ROW_LIMIT * 100)
  }
  return {
    version: 3,
    sources: sources.map((source) => ({ ...source, tables })),
    api_limits: read('api_limits.yaml'),
  }
}
