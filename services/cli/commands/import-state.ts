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
      'Fills an empty database with what the contracts of a reader have on the chain now: the tables are paged from the ' +
        "node's HTTP API, and the blocks since are read from its state history, until every row is of the same block. Then " +
        'start the filler, which continues with the next. Earlier history is missing, and answers say so. ' +
        'See docs/import-state.md.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .option('--reader <name>', 'reader of readers.config.json that continues from it, when there are several')
    .option('--http <url>', 'HTTP API of the node to page; default: chain.http of connections.config.json')
    .option('--requests <number>', 'concurrent requests', wholeNumber(1, 64), 8)
    .option('--start-over', 'discard the progress of an earlier, unfinished run')
    .option('--json', 'JSON on the standard output, for scripts')
    .addHelpText(
      'after',
      `
When it does not come to its end, whatever the cause, the filler refuses to start on what is there. Run it again: it
continues with the table, scope and key where it was left, and reads the blocks since the first run began. When the node
does not have those blocks any more, or a contract was upgraded while its tables were paged, use --start-over. A database
with a position is refused.

Nothing else may write to the database meanwhile: the import holds the lease of the reader.`,
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
      : [`${pagesReadAgain} ranges of rows were read again, as the chain had forked.`]),
    ...missingContracts.map(
      (account) => `The chain has no contract ${account}, so this contract has no rows.`,
    ),
    '',
    `History is whole from block ${historySince} on. What happened before is not there: docs/import-state.md lists it.`,
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
