import { requireSchema } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, RetryableError } from '../../core/errors/index.ts'
import { readSeals, SEAL_BLOCKS } from '../../core/seals/index.ts'
import type { BlockRange, ReplayedHistory, ReplayHistoryOptions } from '../../filler/replay/index.ts'
import { withDatabase } from '../database.ts'
import type { Client } from '../database.ts'
import type { CliIo } from '../io.ts'
import { loadSettings, openLogger } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { pickReader } from './pick-reader.ts'
import { chooseSeals, LAST_BLOCK } from './seals.ts'
import { orIncomplete, orUnavailable } from './verify-failures.ts'

/** Flags of `verify --history`. */
interface HistoryFlags extends ConfigOption {
  readonly history?: string | true
  readonly sample?: number
  readonly reader?: string
  readonly table?: readonly string[]
  readonly repair?: true
  readonly yes?: true
  readonly json?: true
}

/** The only options of `pronghorn verify` that may be combined with `--history`. */
const historyFlags = new Set(['history', 'sample', 'reader', 'table', 'repair', 'yes', 'json', 'config'])

/** Derived values that a repair wrote, and rules that remain broken. */
interface Rebuilt {
  readonly isWritten: boolean
  readonly rebuilt: readonly string[]
  readonly refused: readonly { readonly rule: string; readonly why: string }[]
}

export async function verifyHistory(flags: HistoryFlags, io: CliIo): Promise<void> {
  const other = Object.keys(flags).find((name) => !historyFlags.has(name))
  if (other !== undefined)
    throw new FatalError(
      'USAGE',
      `--history can be combined with --sample, --reader, --table, --repair, --yes and --json, not with --${other}`,
    )
  const bounds = boundsOf(flags.history)
  const { kinds } = await chooseSeals(flags.table === undefined ? {} : { table: flags.table })
  const { connections, readers } = loadSettings(io, flags, ['connections', 'readers']).config
  const settings = pickReader(readers, flags.reader)
  const { chain, sqldb } = connections
  const options = {
    settings,
    chain: {
      chainId: chain.chain_id,
      http: chain.http,
      ship: typeof chain.ship === 'string' ? [chain.ship] : chain.ship,
    },
    // Log lines go to standard error: standard output has only the report, which may be JSON for a program.
    logger: openLogger(io, 'verify', 'companion', 'stderr'),
    signal: io.signal,
    ...(kinds === undefined ? {} : { kinds }),
    ...(io.isTerminal
      ? { onProgress: (block: number) => io.err(`\r\x1b[Kcompared up to block ${block}`) }
      : {}),
  }
  await orIncomplete(() =>
    withDatabase(sqldb, 'pronghorn verify', async (client) => {
      await requireSchema(client)
      await orUnavailable(async () => {
        const ranges =
          flags.sample === undefined ? [bounds] : await sampleRanges(client, bounds, flags.sample)
        const work = { ...options, ranges }
        const isRepair = flags.repair === true && flags.yes === true
        const [history, rebuilt] = isRepair
          ? await repairHistory(sqldb, work)
          : [await replay(client, work), null]
        if (io.isTerminal) io.err('\r\x1b[K')
        io.out(
          flags.json
            ? `${JSON.stringify({ ...historyJson(history), ...rebuilt })}\n`
            : historyText(history, rebuilt),
        )
        judge(history, rebuilt)
      })
    }),
  )
}

async function replay(client: Client, options: ReplayHistoryOptions): Promise<ReplayedHistory> {
  const { replayHistory } = await import('../../filler/replay/index.ts')
  return replayHistory(client, options)
}

/**
 * Compares replayed blocks with the database and replaces the rows that differ, in one transaction that holds
 * the reader's lease. If one row cannot be written, nothing is written.
 */
async function repairHistory(
  address: DatabaseAddress,
  options: ReplayHistoryOptions,
): Promise<[ReplayedHistory, Rebuilt]> {
  const { checkLease, takeLease } = await import('../../filler/index.ts')
  const { repairDerived } = await import('../../verify/index.ts')
  let result: [ReplayedHistory, Rebuilt] | undefined
  await withDatabase(address, 'pronghorn verify --repair', async (client) => {
    const lease = await takeLease(client, options.settings.name)
    await client.query('BEGIN')
    await checkLease(client, lease)
    const history = await replay(client, { ...options, isRepair: true })
    const isWritten = history.differences.every(({ impossible }) => impossible === null)
    const hasWork = isWritten && history.differences.length > 0
    const derived = hasWork ? await repairDerived(client, new Set()) : { rebuilt: [], refused: [] }
    await client.query(isWritten ? 'COMMIT' : 'ROLLBACK')
    result = [history, { isWritten, ...derived }]
  })
  return result!
}

/** Parses the block range of `--history`: `FROM..TO`, `FROM..`, or nothing for all blocks. */
function boundsOf(text: string | true | undefined): BlockRange {
  if (text === undefined || text === true) return { firstBlock: 1, lastBlock: LAST_BLOCK }
  const [, from, to] = /^(\d{1,10})\.\.(\d{1,10})?$/.exec(text) ?? []
  const firstBlock = Number(from)
  const lastBlock = to === undefined ? LAST_BLOCK : Number(to)
  if (from === undefined || firstBlock > lastBlock || lastBlock > LAST_BLOCK)
    throw new FatalError(
      'USAGE',
      '--history: allowed is a range of blocks such as 400000000..400009999, or 400000000.. for all blocks from there on',
    )
  return { firstBlock, lastBlock }
}

/** Chooses random sealed block ranges. @throws RetryableError if nothing is sealed. */
async function sampleRanges(
  client: Client,
  { firstBlock, lastBlock }: BlockRange,
  count: number,
): Promise<BlockRange[]> {
  const seals = await readSeals(client, { from: firstBlock, to: lastBlock })
  const firsts = new Set(seals.flatMap((kind) => kind.seals.map((seal) => seal.firstBlock)))
  if (firsts.size === 0) throw new RetryableError('VERIFY_UNFINISHED', 'no range of blocks is sealed yet')
  const size = seals[0]?.rangeBlocks ?? SEAL_BLOCKS
  const chosen = Array.from(firsts, (first) => ({ first, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, count)
    .map(({ first }) => ({ firstBlock: first, lastBlock: first + size - 1 }))
  return chosen.sort((one, other) => one.firstBlock - other.firstBlock)
}

/** Maximum number of rows in the text report; `--json` lists all rows. */
const ROWS_SHOWN = 100
const SHOWN = 120

function historyText({ ranges, blocks, kinds, ...found }: ReplayedHistory, rebuilt: Rebuilt | null): string {
  const { differences, notCompared, settled, resealed } = found
  const numbers = (...values: readonly number[]) =>
    values.map((value) => value.toString().padStart(12)).join('')
  const shown = differences.slice(0, ROWS_SHOWN)
  const rows = Object.values(kinds).reduce((sum, counts) => sum + counts.rows, 0)
  const end = `${rows} rows of ${Object.keys(kinds).length} kinds in ${blocks} blocks were compared`
  return [
    ...ranges.map(({ firstBlock, lastBlock }) => `read blocks ${firstBlock} to ${lastBlock} from the chain`),
    '',
    `${'kind of row'.padEnd(26)}${['compared', 'partly', 'skipped', 'differ'].map((name) => name.padStart(12)).join('')}`,
    ...Object.entries(kinds).map(
      ([kind, counts]) =>
        `${kind.padEnd(26)}${numbers(counts.rows, counts.partly, counts.skipped, counts.differences)}`,
    ),
    '',
    ...shown.flatMap(({ kind, key, problem, columns, impossible }) => [
      problem === 'missing'
        ? `${kind} ${key}: the database lacks this row`
        : problem === 'extra'
          ? `${kind} ${key}: the chain lacks this row`
          : `${kind} ${key}`,
      ...(problem === 'differs'
        ? Object.entries(columns).map(
            ([column, { chain, database }]) =>
              `  ${column}: chain ${short(chain)}, database ${short(database)}`,
          )
        : []),
      ...(impossible === null ? [] : [`  cannot be repaired from these blocks: ${impossible}`]),
    ]),
    ...(differences.length > shown.length ? [`and ${differences.length - shown.length} more rows`] : []),
    ...notCompared.map((reason) => `not compared: ${reason}`),
    ...(settled > 0
      ? [`${settled} imported seals agree with the chain: the origin of these seals is now indexed`]
      : []),
    ...(rebuilt === null
      ? []
      : [
          ...rebuilt.rebuilt.map((rule) => `values were rebuilt by the rule: ${rule}`),
          ...rebuilt.refused.map(({ rule, why }) => `values cannot be rebuilt by the rule: ${rule}: ${why}`),
          rebuilt.isWritten
            ? `replaced ${differences.length} rows, and sealed ${resealed} ranges again`
            : 'nothing was written',
        ]),
    verdict(differences.length, blocks, end),
    '',
  ].join('\n')
}

function verdict(differences: number, blocks: number, end: string): string {
  if (differences > 0) return `${differences} rows differ: ${end}.`
  return blocks === 0 ? `INCOMPLETE: ${end}.` : `No differences: ${end}.`
}

function short(text: string | null): string {
  if (text === null) return 'nothing'
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`
}

function historyJson(history: ReplayedHistory): object {
  const { ranges, kinds, differences, notCompared, ...counts } = history
  return {
    clean: differences.length === 0 && counts.blocks > 0,
    ranges: ranges.map(({ firstBlock, lastBlock }) => ({ first_block: firstBlock, last_block: lastBlock })),
    ...counts,
    kinds,
    differences,
    not_compared: notCompared,
  }
}

function judge({ differences, blocks }: ReplayedHistory, rebuilt: Rebuilt | null): void {
  if (rebuilt?.isWritten === true && rebuilt.refused.length === 0) return
  if (differences.length > 0)
    throw new FatalError('DATABASE_DIFFERS', `${differences.length} rows of history differ from the chain`)
  if (blocks === 0)
    throw new RetryableError('VERIFY_UNFINISHED', 'none of the blocks is indexed and irreversible')
}
