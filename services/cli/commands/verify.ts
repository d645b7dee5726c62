import type { Command } from 'commander'
import { refuseUnfinishedImport } from '../../core/database/imports/index.ts'
import { requireSchema } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { noteTask } from '../../core/upkeep/index.ts'
import type { Repaired, Verified, VerifyDatabaseOptions } from '../../verify/index.ts'
import { wholeNumber } from '../arguments.ts'
import { dataOption, withDatabase, withDataDirectory, withNamedDatabase } from '../database.ts'
import type { DatabaseOption } from '../database.ts'
import type { CliIo } from '../io.ts'
import { withNodeOption } from '../node-option.ts'
import { loadSettings } from '../settings.ts'
import { CARE_GROUP, configOption } from './groups.ts'
import { LAST_BLOCK } from './seals.ts'
import { verifyHistory } from './verify-history.ts'
import { orIncomplete, orUnavailable } from './verify-failures.ts'
import { verifySeals } from './verify-seals.ts'
import { derivedText, progressLine, repairJson, repairText, reportJson, reportText } from './verify-report.ts'

interface VerifyFlags extends DatabaseOption {
  readonly http?: string
  readonly state?: true
  readonly folder?: string
  readonly table?: readonly string[]
  readonly collection?: string
  readonly sample?: number
  readonly requests?: number
  readonly json?: true
  readonly repair?: true
  readonly yes?: true
  readonly seals?: true
  readonly against?: string
  readonly from?: number
  readonly to?: number
  readonly history?: string | true
  readonly reader?: string
}

export function addVerify(program: Command, io: CliIo): void {
  program
    .command('verify')
    .summary('compare the database with the chain, and repair it')
    .description(
      'Compares every row with the chain, and recomputes every derived value from the rows. May run while the filler runs: a differing row is compared again at later blocks, until both sides agree or the row has not changed for ten blocks. The chain is the node at chain.http of the configuration, unless an option names another source.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .addOption(dataOption())
    .option('--http <url>', 'source: the HTTP API of a node (default: chain.http of the configuration)')
    .option(
      '--state',
      'source: the packed rows that the handler `state` stores in the database, instead of a node',
    )
    .option('--folder <dir>', 'source: a folder of table files CONTRACT.TABLE.json')
    .option('--table <names...>', 'only these tables, such as assets.assets')
    .option('--collection <name>', 'only rows of this collection')
    .option(
      '--sample <rows>',
      'compare about this number of random rows of each table; with --history, this number of random ranges of blocks',
      wholeNumber(1, 10_000_000),
    )
    .option(
      '--requests <count>',
      'number of concurrent requests to the node (default: 4)',
      wholeNumber(1, 64),
    )
    .option('--json', 'print the report as JSON on standard output')
    .option('--repair', 'show the changes that would make the database equal to the chain')
    .option('--yes', 'with --repair: write the changes in one transaction; no filler may run meanwhile')
    .option('--seals', 'compare the history with its seals instead of the chain; see docs/seals.md')
    .option('--against <url>', "compare the history with the seals of another operator's node")
    .option(
      '--history [from..to]',
      'read the blocks (default: all) again from the state history, and compare the rows that they add to the history',
    )
    .option(
      '--reader <name>',
      'with --history: the reader to compare; required if readers.config.json has several readers',
    )
    .option(
      '--from <block>',
      'with --seals or --against: only ranges that end at this block or later',
      wholeNumber(0, LAST_BLOCK),
    )
    .option(
      '--to <block>',
      'with --seals or --against: only ranges that begin at this block or before',
      wholeNumber(0, LAST_BLOCK),
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 no differences, 1 differences, 75 some data could not be compared.\n' +
        '--repair --yes writes either all corrections or none, and only values that the chain tables contain or that follow from them: see docs/verify.md.',
    )
    .action(async (flags: VerifyFlags) => {
      if (flags.yes && !flags.repair) throw new FatalError('USAGE', '--yes needs --repair')
      if (flags.history !== undefined) return verifyHistory(flags, io)
      if (flags.reader !== undefined) throw new FatalError('USAGE', '--reader needs --history')
      if (flags.seals || flags.against !== undefined)
        return withNamedDatabase(io, flags, (address) => verifySeals(address, flags, io))
      if (flags.from !== undefined || flags.to !== undefined)
        throw new FatalError('USAGE', '--from and --to need --seals or --against')
      if (flags.data !== undefined) {
        return withDataDirectory(flags.data, (address) =>
          verify(address, chooseSource(flags, undefined), flags, io),
        )
      }
      const { sqldb, chain } = loadSettings(io, flags, ['connections'], true).config.connections
      await verify(sqldb, chooseSource(flags, chain.http), flags, io)
    })
}

async function verify(
  address: DatabaseAddress,
  source: VerifyDatabaseOptions['source'],
  flags: VerifyFlags,
  io: CliIo,
): Promise<void> {
  // The rows of schemas contain the formats that decode asset attributes. If the source has lost a row of schemas, only
  // the comparison of the table of schemas finds the loss.
  if (source.kind === 'state' && flags.repair && !isWholeDatabase(flags))
    throw new FatalError(
      'USAGE',
      '--repair with --state compares the whole database: leave --table, --collection and --sample out',
    )
  const options = {
    source,
    signal: io.signal,
    ...(flags.table === undefined ? {} : { tables: flags.table }),
    ...(flags.collection === undefined ? {} : { collection: flags.collection }),
    ...(flags.sample === undefined ? {} : { sample: flags.sample }),
    ...(io.isTerminal ? { onProgress: (progress) => io.err(progressLine(progress)) } : {}),
  } satisfies VerifyDatabaseOptions
  await orIncomplete(async () => {
    await withDatabase(address, 'pronghorn verify', async (client) => {
      await requireSchema(client)
      await refuseUnfinishedImport(client, null)
    })
    const work = flags.repair && flags.yes ? repair : compare
    await withNodeOption(flags.http, () => work(address, options, flags, io))
  })
}

/**
 * Chooses the source of the comparison from the flags.
 * @param chainHttp HTTP URL of the node in the configuration; undefined for a data directory.
 */
function chooseSource(flags: VerifyFlags, chainHttp: string | undefined): VerifyDatabaseOptions['source'] {
  const { http, state, folder, requests } = flags
  if ([http, state, folder].filter((source) => source !== undefined).length > 1)
    throw new FatalError('USAGE', 'use only one of --http, --state and --folder')
  if (folder !== undefined) return { kind: 'folder', path: folder }
  if (state) return { kind: 'state' }
  const url = http ?? chainHttp
  if (url === undefined) {
    const need = 'a data directory names no node: --data needs --http URL, --folder DIR or --state as well'
    throw new FatalError('USAGE', need)
  }
  if (!URL.canParse(url)) throw new FatalError('USAGE', `not a URL: ${url}`)
  return { kind: 'http', url, ...(requests === undefined ? {} : { atOnce: requests }) }
}

async function compare(
  address: DatabaseAddress,
  options: VerifyDatabaseOptions,
  flags: VerifyFlags,
  io: CliIo,
): Promise<void> {
  await withDatabase(address, 'pronghorn verify', async (client) => {
    const { planRepairs, verifyWith } = await import('../../verify/index.ts')
    const verified = await orUnavailable(() => verifyWith(client, options))
    clearLine(io)
    const repairs = flags.repair ? planRepairs(verified) : null
    if (flags.json)
      io.out(`${JSON.stringify({ ...reportJson(verified), ...(repairs && repairJson(repairs)) })}\n`)
    else io.out(`${reportText(verified)}${repairs ? await repairText(repairs, 'would write') : ''}`)
    const { report } = verified
    const isWhole = isWholeDatabase(flags) && report.unfinished === null && report.incomplete.length === 0
    await noteComparison(address, describeDifferences(verified), isWhole)
    judge(verified)
  })
}

async function repair(
  address: DatabaseAddress,
  options: VerifyDatabaseOptions,
  flags: VerifyFlags,
  io: CliIo,
): Promise<void> {
  const { repairDatabase } = await import('../../verify/index.ts')
  const repaired = await orUnavailable(() => repairDatabase(address, options))
  clearLine(io)
  const { repairs, rebuilt, refused, isWritten, digests } = repaired
  if (flags.json) {
    const done = { ...repairJson(repairs), repaired: isWritten, rebuilt, refused, digests }
    io.out(`${JSON.stringify({ ...reportJson(repaired), ...done })}\n`)
  } else {
    const lines = await repairText(repairs, isWritten ? 'wrote' : 'would have written')
    io.out(`${reportText(repaired)}${lines}${derivedText(repaired)}`)
  }
  const isWhole = isWholeDatabase(flags) && repaired.report.incomplete.length === 0
  await noteComparison(address, describeLeft(repaired), isWhole)
  judgeRepair(repaired)
}

function isWholeDatabase({ table, collection, sample }: VerifyFlags): boolean {
  return table === undefined && collection === undefined && sample === undefined
}

/**
 * Records the result of a comparison for the metrics. A partial comparison is recorded only if it failed: its
 * success proves nothing about the other data. An error of the write is ignored, because roles without write
 * access may run comparisons.
 */
async function noteComparison(
  address: DatabaseAddress,
  failure: string | null,
  isWhole: boolean,
): Promise<void> {
  if (failure === null && !isWhole) return
  await withDatabase(address, 'pronghorn verify', (client) => noteTask(client, 'verify', failure)).catch(
    () => undefined,
  )
}

function describeDifferences({ report }: Verified): string | null {
  const broken = report.derived?.length ?? 0
  if (report.differences.length === 0 && broken === 0) return null
  const rows = `${report.differences.length} rows differ from the chain`
  return broken === 0 ? rows : `${rows}, ${broken} derived rules are broken`
}

function describeLeft({ repairs, refused, isWritten }: Repaired): string | null {
  if (isWritten) return null
  const rows = repairs.filter(({ impossible }) => impossible !== null).length
  return `nothing was written: ${rows} rows and ${refused.length} derived rules cannot be repaired`
}

/** Throws the error whose exit code expresses the result of the comparison. */
function judge(verified: Verified): void {
  const { unfinished } = verified.report
  if (unfinished !== null) throw verified.cause ?? new RetryableError('VERIFY_UNFINISHED', unfinished)
  judgeWhole(describeDifferences(verified), verified)
}

function judgeRepair(repaired: Repaired): void {
  judgeWhole(describeLeft(repaired), repaired)
}

/**
 * Throws `DATABASE_DIFFERS` if there is a failure. Otherwise throws `VERIFY_UNFINISHED` if some data were not
 * compared.
 */
function judgeWhole(failure: string | null, { report }: Verified): void {
  if (failure !== null) throw new FatalError('DATABASE_DIFFERS', failure)
  if (report.incomplete.length > 0)
    throw new RetryableError('VERIFY_UNFINISHED', report.incomplete.join('; '))
}

function clearLine(io: CliIo): void {
  if (io.isTerminal) io.err('\r\x1b[K')
}
