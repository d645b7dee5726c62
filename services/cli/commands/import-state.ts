import type { Command } from 'commander'
import { migrate } from '../../core/database/index.ts'
import type { ImportStateOptions, ImportStateReport } from '../../filler/import/index.ts'
import { wholeNumber } from '../arguments.ts'
import { withDatabase } from '../database.ts'
import type { CliIo } from '../io.ts'
import { withNodeOption } from '../node-option.ts'
import { loadSettings, openLogger } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { CARE_GROUP, configOption } from './groups.ts'
import { pickReader } from './pick-reader.ts'

interface ImportFlags extends ConfigOption {
  readonly reader?: string
  readonly http?: string
  readonly requests: number
  readonly startOver?: true
  readonly json?: true
}

export function addImportState(program: Command, io: CliIo): void {
  program
    .command('import-state')
    .summary("fill an empty database from the chain's current tables, without history")
    .description(
      'Fills an empty database with the current rows of the contracts of a reader. ' +
        'The import reads the tables page by page from the HTTP API of a node, and the later blocks from the state history of the node, until every row is of the same block. ' +
        'Start the filler afterwards: it continues with the next block. ' +
        'Earlier history is missing, and answers of the API say so. ' +
        'See docs/import-state.md.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .option(
      '--reader <name>',
      'reader that continues after the import; required if readers.config.json has several readers',
    )
    .option(
      '--http <url>',
      'HTTP API of the node whose tables are read; default: chain.http of connections.config.json',
    )
    .option('--requests <number>', 'concurrent requests', wholeNumber(1, 64), 8)
    .option('--start-over', 'discard the progress of an earlier, unfinished run')
    .option('--json', 'JSON on the standard output, for scripts')
    .addHelpText(
      'after',
      `
After an unfinished import the filler refuses to start on the incomplete database. Run the import again: it continues
with the table, scope and key at which it stopped, and reads the blocks since the start of the first run. If the node
no longer has these blocks, or a contract was upgraded while its tables were paged, use --start-over. The import refuses
a database in which a reader has already committed blocks.

No other program may write to the database during the import: the import holds the lease of the reader.`,
    )
    .action((flags: ImportFlags) => run(flags, io))
}

async function run(flags: ImportFlags, io: CliIo): Promise<void> {
  const { importState } = await import('../../filler/import/index.ts')
  const { config } = loadSettings(io, flags, ['connections', 'readers'])
  const settings = pickReader(config.readers, flags.reader)
  const { chain, sqldb } = config.connections
  const options: ImportStateOptions = {
    database: sqldb,
    chain: {
      chainId: chain.chain_id,
      http: flags.http ?? chain.http,
      ship: typeof chain.ship === 'string' ? [chain.ship] : chain.ship,
    },
    settings,
    atOnce: flags.requests,
    startOver: flags.startOver === true,
    logger: openLogger(io, 'import', 'companion'),
    signal: io.signal,
    ...(io.isTerminal
      ? {
          onProgress: ({ phase, done, of }) =>
            io.err(`\r\x1b[K${phase}: ${done}${of === 0 ? ' rows' : ` of ${of}`}`),
        }
      : {}),
  }
  await withDatabase(sqldb, 'pronghorn import', async (client) => {
    await migrate(client)
  })
  const report = await withNodeOption(flags.http, () => importState(options))
  if (io.isTerminal) io.err('\r\x1b[K')
  io.out(flags.json ? `${JSON.stringify(reportJson(report))}\n` : reportText(report, settings.name))
}

function reportText(report: ImportStateReport, reader: string): string {
  const { block, blockId, rows, seconds, historySince, resumed, pagesReadAgain, missingContracts } = report
  const lines = [
    `Imported at block ${block} ${blockId}: ${rows} rows of the chain; this run took ${seconds.toFixed(1)} s.`,
    ...(resumed ? ['An earlier run was continued.'] : []),
    ...(pagesReadAgain === 0
      ? []
      : [`${pagesReadAgain} ranges of rows were read again, because the chain forked.`]),
    ...missingContracts.map(
      (account) => `The chain has no contract ${account}, so this contract has no rows.`,
    ),
    '',
    `History is complete from block ${historySince} on. docs/import-state.md lists the earlier data that are missing.`,
    '',
    `Now start the filler: reader ${reader} continues with block ${block + 1}.`,
  ]
  return `${lines.join('\n')}\n`
}

function reportJson(report: ImportStateReport): unknown {
  return {
    block_num: report.block,
    block_id: report.blockId,
    history_since_block: report.historySince,
    rows: report.rows,
    seconds: report.seconds,
    resumed: report.resumed,
    pages_read_again: report.pagesReadAgain,
    missing_contracts: report.missingContracts,
  }
}
