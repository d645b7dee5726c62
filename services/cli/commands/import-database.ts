import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { migrate } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type {
  Difference,
  ImportDatabaseOptions,
  ImportPlan,
  ImportReport,
} from '../../filler/import/index.ts'
import { wholeNumber } from '../arguments.ts'
import { withDatabase } from '../database.ts'
import type { CliIo } from '../io.ts'
import { loadSettings, openLogger } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { CARE_GROUP, configOption } from './groups.ts'
import { pickReader } from './pick-reader.ts'

interface ImportFlags extends ConfigOption {
  readonly reader?: string
  readonly sourceReader?: string
  readonly sourcePasswordFile?: string
  readonly workers: number
  readonly dryRun?: true
  readonly allowGaps?: true
  readonly json?: true
}

export function addImportDatabase(program: Command, io: CliIo): void {
  program
    .command('import-database')
    .summary('import a database of eosio-contract-api')
    .description(
      'Fills an empty database from a database of eosio-contract-api 1.3.x or atomicassets-api 2.x, at its last irreversible block. ' +
        'Start the filler afterwards: it continues with the next block. ' +
        'The source database is read in one snapshot and stays unchanged: the import undoes the reversible blocks of the source in a transaction that is rolled back. ' +
        'The API of the source may run during the import. ' +
        'docs/migrate.md describes a migration step by step.',
    )
    .helpGroup(CARE_GROUP)
    .argument(
      '<address>',
      'the old database: postgres://user@host:5432/name, with its password in PGPASSWORD',
    )
    .addOption(configOption())
    .option(
      '--reader <name>',
      'reader that continues after the import; required if readers.config.json has several readers',
    )
    .option(
      '--source-reader <name>',
      'reader of the old database; required if the database has several readers',
    )
    .option(
      '--source-password-file <file>',
      'a file with the password of the old database (other users of the machine can see a password that is on the command line)',
    )
    .option('--workers <number>', 'number of concurrent copying sessions', wholeNumber(1, 64), 4)
    .option(
      '--dry-run',
      'check the source, count rows, estimate time and disk space, list data that cannot be imported; change nothing',
    )
    .option(
      '--allow-gaps',
      'accept a source that lacks rows; `pronghorn verify` and /health then name the missing rows permanently',
    )
    .option('--json', 'JSON on the standard output, for scripts')
    .addHelpText(
      'after',
      `
After an unfinished import the filler refuses to start on the incomplete database. Run the import again: it continues
with the next step if the old database has indexed no further block (stop the old filler; the old API may run). Otherwise,
and after it has refused an incomplete source, the import deletes the copied rows and starts over; with --allow-gaps it
continues after the refusal. It refuses a database in which a reader has already committed blocks.

No other program may write to the database during the import: the import holds the lease of the reader.`,
    )
    .action((address: string, flags: ImportFlags) => run(address, flags, io))
}

async function run(address: string, flags: ImportFlags, io: CliIo): Promise<void> {
  const { parseSourceAddress, planImport, importDatabase } = await import('../../filler/import/index.ts')
  const source = await withPassword(parseSourceAddress(address), flags, io)
  const { config } = loadSettings(io, flags, ['connections', 'readers'])
  const settings = pickReader(config.readers, flags.reader)
  const { chain } = config.connections
  const options: ImportDatabaseOptions = {
    source,
    ...(flags.sourceReader === undefined ? {} : { sourceReader: flags.sourceReader }),
    database: config.connections.sqldb,
    chain: { chainId: chain.chain_id, http: chain.http },
    settings,
    workers: flags.workers,
    logger: openLogger(io, 'import', 'companion'),
    signal: io.signal,
    mayLack: flags.allowGaps === true,
    ...(io.isTerminal
      ? {
          onProgress: ({ phase, done, of, rows }) =>
            io.err(`\r\x1b[K${phase}: ${done} of ${of} steps, ${rows} rows in all`),
        }
      : {}),
  }
  if (flags.dryRun) {
    const plan = await planImport(options)
    io.out(flags.json ? `${JSON.stringify(planJson(plan))}\n` : planText(plan))
    return
  }
  await withDatabase(config.connections.sqldb, 'pronghorn import', async (client) => {
    await migrate(client)
  })
  const report = await importDatabase(options)
  if (io.isTerminal) io.err('\r\x1b[K')
  io.out(flags.json ? `${JSON.stringify(reportJson(report))}\n` : reportText(report, settings.name))
}

/** Sets the password of a PostgreSQL login: from the given file, else from its URL, else from `PGPASSWORD`. */
async function withPassword(
  address: DatabaseAddress,
  { sourcePasswordFile: file }: ImportFlags,
  io: CliIo,
): Promise<DatabaseAddress> {
  if (file === undefined)
    return address.password === '' ? { ...address, password: io.env.PGPASSWORD ?? '' } : address
  const password = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new FatalError('USAGE', `--source-password-file: ${file} cannot be read`, { cause })
  })
  return { ...address, password: password.trim() }
}

const differenceLines = (differences: readonly Difference[]) =>
  differences.map(({ what, why }) => `  ${what}\n    ${why}`)

/**
 * Lines that name the data that the import leaves out, followed by an empty line; no lines if nothing is left
 * out.
 */
const leftOutLines = (leftOut: readonly Difference[]) =>
  leftOut.length === 0 ? [] : ['Not imported:', ...differenceLines(leftOut), '']

function planText(plan: ImportPlan): string {
  const width = Math.max(...plan.counts.map(({ table }) => table.length))
  const lines = [
    `A database of version ${plan.version}, to be imported at block ${plan.block.num} ${plan.block.id}.`,
    `${plan.reversibleBlocks} reversible blocks are rolled back; the filler reads them again.`,
    '',
    ...plan.counts.map(
      ({ table, rows }) => `  ${table.padEnd(width)} ${Math.round(rows).toString().padStart(14)} rows`,
    ),
    '',
    `${Math.round(plan.rows)} rows, about ${Math.ceil(plan.bytes / 2 ** 20)} MiB in this database without the indexes that queries need. ` +
      `The import takes about ${Math.ceil(plan.seconds / 60)} minutes on two cores.`,
    ...(plan.unindexed.length === 0
      ? []
      : [
          '',
          `The import will take much longer: ${plan.unindexed.join(', ')} have no index, so every step scans these tables entirely.`,
          'Restore the dump with its indexes first.',
        ]),
    '',
    ...leftOutLines(plan.leftOut),
    'Differences from a database that was indexed from the blocks:',
    ...differenceLines(plan.differences),
    '',
    'Nothing was changed.',
  ]
  return `${lines.join('\n')}\n`
}

function planJson({
  version,
  block,
  reversibleBlocks,
  counts,
  rows,
  bytes,
  seconds,
  ...rest
}: ImportPlan): unknown {
  return {
    version,
    block_num: block.num,
    block_id: block.id,
    reversible_blocks: reversibleBlocks,
    tables: counts.map((count) => ({ name: count.table, rows: Math.round(count.rows) })),
    rows: Math.round(rows),
    bytes,
    seconds,
    left_out: rest.leftOut,
    unindexed: rest.unindexed,
    differences: rest.differences,
  }
}

function reportText(report: ImportReport, reader: string): string {
  const rate = Math.round(report.rows / Math.max(report.seconds, 0.001))
  const lines = [
    `Imported at block ${report.block} ${report.blockId}: ${report.rows} rows in ${report.seconds.toFixed(1)} s (${rate} rows/s).`,
    ...(report.resumedSteps === 0 ? [] : [`${report.resumedSteps} steps of an earlier run were reused.`]),
    '',
    ...(report.lacking.length === 0
      ? []
      : [
          'Missing in the source, accepted with --allow-gaps:',
          ...report.lacking.map((text) => `  ${text}`),
          '',
        ]),
    ...leftOutLines(report.leftOut),
    'Differences from a database that was indexed from the blocks:',
    ...differenceLines(report.differences),
    '',
    `Now start the filler: reader ${reader} continues with block ${report.block + 1}.`,
  ]
  return `${lines.join('\n')}\n`
}

function reportJson(report: ImportReport): unknown {
  const { block, blockId, rows, seconds, resumedSteps, lacking, leftOut, differences } = report
  return {
    block_num: block,
    block_id: blockId,
    rows,
    seconds,
    resumed_steps: resumedSteps,
    lacking,
    left_out: leftOut,
    differences,
  }
}
