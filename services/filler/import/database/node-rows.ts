import { marketTables, oracleTables } from '../../../core/model/tables/index.ts'
import { readTable } from '../../../core/chain-node/index.ts'
import type { JsonRow } from '../../../core/chain-node/index.ts'
import {
  createOracleHandler,
  emptyOracleState,
  parseDatapoint,
  parsePair,
} from '../../handlers/oracle/index.ts'
import type { CommitUnit } from '../../store/index.ts'
import { literal } from './copy-parts.ts'
import type { UndoneSource } from './old-undo.ts'

/**
 * Greatest number of pages that an import reads of a contract table. The limit is far above the number of pages of any
 * oracle table.
 */
const MAX_PAGES = 1_000

/** A contract whose tables are read from a chain node. */
interface NodeContract {
  /** URL of the chain node. */
  readonly http: string
  readonly account: string
}

function readAll({ http, account: code }: NodeContract, table: string, scope = code): Promise<JsonRow[]> {
  return readTable(http, { code, scope, table }, MAX_PAGES)
}

const integer = (value: unknown) => BigInt(value as string | number)

/**
 * Adds the oracle pairs and data points of the chain node to a commit unit, through the handler of the oracle. The
 * chain node returns the rows of its current block, which is later than the import block. A row that differs from the
 * row at the import block has changed in a later block. The reader resumes after the import block and writes such a row
 * when it reads that block.
 */
export async function putOracleFromNode(
  contract: NodeContract,
  block: { readonly num: number; readonly timeMs: number },
  undone: UndoneSource,
  unit: CommitUnit,
): Promise<void> {
  const { account } = contract
  const pairs = await readAll(contract, 'pairs')
  const handler = createOracleHandler({ oracle_account: account })
  const scope = handler.open(block, emptyOracleState, unit, () => undefined)
  const row = { present: true, scope: () => account, primaryKey: () => 0n }
  for (const pair of pairs.map(parsePair)) scope.row({ ...row, table: 'pairs', value: () => pair })
  for (const { name } of pairs)
    for (const point of await readAll(contract, 'datapoints', String(name))) {
      const value = parseDatapoint(point)
      scope.row({ ...row, table: 'datapoints', scope: () => String(name), value: () => value })
    }
  scope.end()
  // Copy the time of each median from the source database, because the chain node does not return the time.
  const dates = await undone.query<{ pair_name: string; updated_at_time: bigint; updated_at_block: bigint }>(
    `SELECT delphi_pair_name AS pair_name, updated_at_time, updated_at_block FROM delphioracle_pairs
     WHERE contract = ${literal(account)} AND updated_at_block > 0`,
  )
  for (const { pair_name, updated_at_time, updated_at_block } of dates)
    unit.patch(
      oracleTables.pairs,
      { pair_name },
      { updated_at_time: Number(updated_at_time), updated_at_block: Number(updated_at_block) },
    )
}

/**
 * Replaces the market counters in a commit unit with the counters of the chain node. `putConfigs` derives the counters
 * from the greatest ids in the source database, which does not contain the ids of deleted rows.
 */
export async function putMarketCounters(contract: NodeContract, unit: CommitUnit): Promise<void> {
  const [config] = await readAll(contract, 'config')
  if (config !== undefined)
    unit.patch(
      marketTables.config,
      { contract: contract.account },
      { sale_counter: integer(config.sale_counter), auction_counter: integer(config.auction_counter) },
    )
  for (const { counter_name: name, counter_value: value } of await readAll(contract, 'counters'))
    unit.upsert(marketTables.counters, { counter_name: String(name), counter_value: integer(value) })
}
