import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { packageRoot } from '../../core/paths/index.ts'

const qualified = z.string().regex(/^[a-z_]+\.[a-z0-9_]+$/)

const relationship = z.strictObject({
  from: qualified,
  name: z.string().regex(/^[a-z][a-z0-9_]*$/),
  one: qualified.optional(),
  many: qualified.optional(),
  columns: z.record(z.string(), z.string()),
})

const limits = z.strictObject({
  depth: z.int().min(1),
  nodes: z.int().min(1),
  seconds: z.int().min(1),
  batch: z.int().min(1),
})

const catalogue = z.strictObject({
  schemas: z.array(z.string()),
  hidden: z.array(qualified),
  limits,
  relationships: z.array(relationship),
})

/** GraphQL facts that the schema does not contain: relationships, names, limits. */
export type Catalogue = z.output<typeof catalogue>
/** A relationship between the rows of two views. */
export type Relationship = z.output<typeof relationship>

/** Folder with Hasura's metadata and with the catalogue from which the metadata are generated. */
export const hasuraFolder = join(packageRoot, 'infra/hasura')

/** Reads `infra/hasura/catalogue.yaml`. */
export async function readCatalogue(): Promise<Catalogue> {
  return catalogue.parse(parse(await readFile(join(hasuraFolder, 'catalogue.yaml'), 'utf8')))
}
