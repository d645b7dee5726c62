import { marketTables } from '../../core/model/tables/index.ts'
import { readTable } from '../../core/chain-node/index.ts'
import type { JsonRow } from '../../core/chain-node/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { Handler } from '../handlers/index.ts'
import { parseSymbolPairs, symbolsOf } from '../handlers/market/index.ts'
import { createOracleHandler, emptyOracleState, parsePair } from '../handlers/oracle/index.ts'
import { CommitUnit } from '../store/index.ts'
import type { Store } from '../store/index.ts'

/** A contract table that contains symbol pairs. Prices depend on the symbol pairs. */
interface PairSource {
  readonly family: string
  readonly table: string
  /** SQL for the names of the pairs in the database. */
  readonly known: string
  /** SQL that returns whether the database lacks an oracle pair or symbol pair that other rows need. */
  readonly lacks: string
  /** Adds the oracle pairs or symbol pairs that are not in `known` to the unit, and returns their names. */
  put(rows: readonly JsonRow[], known: ReadonlySet<string>, account: string, unit: CommitUnit): string[]
}

const sources: readonly PairSource[] = [
  {
    family: 'oracle',
    table: 'pairs',
    known: 'SELECT pair_name AS name FROM oracle.pairs',
    lacks: `SELECT EXISTS (
      SELECT FROM oracle.datapoints d WHERE NOT EXISTS (SELECT FROM oracle.pairs p WHERE p.pair_name = d.pair_name)
    ) AS lacks`,
    put: (rows, known, account, unit) => {
      const pairs = rows.map(parsePair).filter(({ name }) => !known.has(name))
      const handler = createOracleHandler({ oracle_account: account })
      const scope = handler.open({ num: 0, timeMs: 0 }, emptyOracleState, unit, () => undefined)
      for (const pair of pairs)
        scope.row({
          table: 'pairs',
          present: true,
          scope: () => account,
          primaryKey: () => 0n,
          value: () => pair,
        })
      scope.end()
      return pairs.map(({ name }) => name)
    },
  },
  {
    family: 'market',
    table: 'config',
    known: `SELECT listing_symbol || '/' || settlement_symbol AS name FROM market.symbol_pairs`,
    lacks:
      'SELECT NOT EXISTS (SELECT FROM market.config) AND NOT EXISTS (SELECT FROM market.symbol_pairs) AS lacks',
    put: (rows, known, _, unit) => {
      const pairs = rows.flatMap(parseSymbolPairs).filter((pair) => !known.has(symbolsOf(pair)))
      for (const pair of pairs) unit.upsert(marketTables.symbolPairs, pair)
      return pairs.map(symbolsOf)
    },
  },
]

interface PairSearch {
  readonly store: Store
  readonly handlers: readonly Handler[]
  /** Address of the chain's HTTP interface; null if none is configured. */
  readonly http: string | null
  readonly startBlock: number
  readonly logger: Logger
}

/** Maximum number of pages of 500 rows that are read from a table of pairs: more pairs than any oracle has. */
const MAX_PAGES = 4

/**
 * Reads the symbol pairs that the database lacks (of the oracle and of the market's configuration) from the chain's
 * HTTP interface. A reader that starts in the middle of a chain has not seen the actions that added the pairs. Neither
 * has a family that was added later. Runs before the first block, after a gap, and at each start while a pair is
 * missing. If the node does not answer, the reader continues without the pairs.
 *
 * The current pairs are correct for older blocks, too. Name, symbols and precision of a pair never change. A block that
 * changes another column of a pair writes the whole row again. Medians come with the data points of the blocks. The
 * rows of the pairs belong to no block, so no fork undoes the rows.
 */
export async function fetchMissingPairs(search: PairSearch): Promise<void> {
  const { store, handlers, http, startBlock, logger } = search
  for (const source of sources) {
    const account = handlers.find(({ family }) => family === source.family)?.account
    if (account === undefined || http === null || !(await isMissing(store, source, startBlock))) continue
    const known = await store.query<{ name: string }>(source.known)
    const unit = new CommitUnit(false)
    let pairs: string[]
    try {
      const rows = await readTable(http, { code: account, scope: account, table: source.table }, MAX_PAGES)
      pairs = source.put(rows, new Set(known.map(({ name }) => name)), account, unit)
    } catch (error) {
      logger.warn(
        { account, table: source.table, cause: describeError(error) },
        'symbol pairs could not be read from the chain node: sales with a missing pair have no price',
      )
      continue
    }
    if (pairs.length === 0) continue
    await store.load(unit, store.position?.timeMs ?? 0)
    const why = store.position === null ? 'they were added before the first block' : 'the database lacks them'
    logger.warn(
      { account, pairs, startBlock },
      `the reader read symbol pairs from the chain node, because ${why}; the pairs have their current values until the contract changes them`,
    )
  }
}

async function isMissing(store: Store, source: PairSource, startBlock: number): Promise<boolean> {
  const next = (store.position?.num ?? 0) + 1
  if (startBlock > next) return true
  const [row] = await store.query<{ lacks: boolean }>(
    `SELECT (${source.lacks}) OR EXISTS (SELECT FROM chain.sources WHERE family = $1 AND first_block = $2) AS lacks`,
    [source.family, next],
  )
  return row!.lacks
}
