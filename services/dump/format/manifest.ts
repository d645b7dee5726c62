import { z } from 'zod'
import { FatalError } from '../../core/errors/index.ts'

/** Version of the format of a dump. */
export const DUMP_FORMAT = 1
/** File name of the manifest, the last file that a publication writes. */
export const MANIFEST = 'manifest.json'
/** File name of the signature of a manifest. @param sha256 of the bytes of the manifest. */
export const signatureName = (sha256: string): string => `signatures/${sha256}.sig`

/** Largest manifest, in bytes: about 700,000 files. */
export const MANIFEST_BYTES = 256 * 2 ** 20
/** Maximum size of a file of rows in bytes: compressed, and uncompressed. */
const FILE_BYTES = 2 ** 30
const FILE_CONTENT_BYTES = 2 ** 31 - 1
/** Maximum number of partitions of a table. */
const MOST_PARTITIONS = 100_000

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Whole number as decimal text; the value may exceed the largest exact JSON number. */
const decimal = z.string().regex(/^\d{1,19}$/)
const size = (max: number) => z.int().min(0).max(max)
const block = z.int().min(0).max(2_147_483_647)
const column = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)
const tableName = z.string().regex(/^[a-z_]{1,30}\.[a-z_][a-z0-9_]{0,62}$/)
/** A name that a terminal shows: no control characters. */
const name = z
  .string()
  .max(200)
  .regex(/^\P{C}*$/u, 'has control characters')

const fileSchema = z.strictObject({
  path: z.string().regex(/^files\/[a-z_]{1,30}\.[a-z0-9_]{1,63}\/[0-9a-f]{32}\.copy\.(?:gz|zst)$/),
  bytes: size(FILE_BYTES),
  sha256,
  content_bytes: size(FILE_CONTENT_BYTES),
  content_sha256: sha256,
  rows: size(FILE_CONTENT_BYTES),
  sealed: z
    .strictObject({
      kind: name,
      first_block: block,
      last_block: block,
      ranges: z.array(z.tuple([block, size(FILE_CONTENT_BYTES), sha256])).min(1),
    })
    .optional(),
})

const tableSchema = z.strictObject({
  name: tableName,
  columns: z.array(column).min(1).max(1_000),
  rows: decimal,
  partitions: z.array(decimal).max(MOST_PARTITIONS),
  files: z.array(fileSchema),
})

const manifestSchema = z.strictObject({
  format: z.literal(DUMP_FORMAT),
  program: name,
  created_at: name,
  chain_id: sha256,
  readers: z
    .array(
      z.strictObject({
        name,
        start_block: block,
        block_num: block,
        block_id: sha256,
        contracts: z.array(z.strictObject({ family: name, account: name })),
      }),
    )
    .min(1),
  migrations: z.array(z.strictObject({ number: z.int().positive(), name, checksum: sha256 })).min(1),
  seals: z.strictObject({ kinds: size(1_000), sealed_to: z.int().min(-1), rows: decimal, digest: sha256 }),
  rows: decimal,
  bytes: decimal,
  tables: z.array(tableSchema).min(1),
})

/** Content of a dump with checksums. docs/publish.md documents the members. */
export type Manifest = z.infer<typeof manifestSchema>
/** A table in the manifest, with the files of its rows. */
export type ManifestTable = z.infer<typeof tableSchema>
export type ManifestFile = z.infer<typeof fileSchema>

/**
 * Parses and checks a manifest of an untrusted source.
 *
 * @throws FatalError `DUMP_UNFIT`.
 */
export function parseManifest(bytes: Buffer): Manifest {
  let content: unknown
  try {
    content = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new FatalError('DUMP_UNFIT', `${MANIFEST} is not JSON`)
  }
  const format = z.looseObject({ format: z.number() }).safeParse(content).data?.format
  if (format !== undefined && format !== DUMP_FORMAT)
    throw new FatalError('DUMP_UNFIT', `the dump has format ${format}, this version reads ${DUMP_FORMAT}`)
  const { success, data, error } = manifestSchema.safeParse(content)
  if (!success) {
    const issue = error.issues[0]!
    throw new FatalError(
      'DUMP_UNFIT',
      [MANIFEST, ...(issue.path.length === 0 ? [] : [issue.path.join('.')]), issue.message].join(': '),
    )
  }
  refuseRepeated(data)
  refuseWrongSums(data)
  return data
}

/** Refuses a manifest that names a migration, table or file twice, or a file outside the folder of the file's table. */
function refuseRepeated({ migrations, tables }: Manifest): void {
  const seen = new Set<string>()
  for (const { number } of migrations) {
    if (seen.has(`${number}`))
      throw new FatalError('DUMP_UNFIT', `${MANIFEST} names migration ${number} twice`)
    seen.add(`${number}`)
  }
  for (const table of tables) {
    for (const named of [table.name, ...table.files.map(({ path }) => path)]) {
      if (seen.has(named)) throw new FatalError('DUMP_UNFIT', `${MANIFEST} names ${named} twice`)
      seen.add(named)
    }
    const stray = table.files.find(({ path }) => path.split('/')[1] !== table.name)
    if (stray)
      throw new FatalError('DUMP_UNFIT', `${MANIFEST}: ${stray.path} does not belong to ${table.name}`)
  }
}

/** Refuses a manifest whose numbers of rows and bytes are not the sums of its files: the manifest lacks a file then. */
function refuseWrongSums({ tables, rows, bytes }: Manifest): void {
  const sums = tables.map(({ name: table, rows: rowsOf, files }): [string, string, bigint] => [
    `${table} has ${rowsOf} rows`,
    rowsOf,
    sumOf(files.map((file) => file.rows)),
  ])
  const files = tables.flatMap((table) => table.files)
  sums.push([`the dump has ${rows} rows`, rows, sumOf(files.map((file) => file.rows))])
  sums.push([`the dump has ${bytes} bytes`, bytes, sumOf(files.map((file) => file.bytes))])
  for (const [text, stated, sum] of sums)
    if (BigInt(stated) !== sum)
      throw new FatalError('DUMP_UNFIT', `${MANIFEST}: ${text}, but its files have ${sum}`)
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + BigInt(each), 0n)

/** The bytes of a manifest: JSON with the members in the order of docs/publish.md, one line for each file. */
export function formatManifest(manifest: Manifest): Buffer {
  const { tables, ...head } = manifest
  const lines = tables.map(({ files, ...table }) => {
    const members = JSON.stringify(table).slice(0, -1)
    return `${members},"files":[\n${files.map((file) => JSON.stringify(file)).join(',\n')}\n]}`
  })
  const text = `${JSON.stringify(head).slice(0, -1)},"tables":[\n${lines.join(',\n')}\n]}\n`
  return Buffer.from(text)
}
