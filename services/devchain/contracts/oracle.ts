import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { readRow } from './assets-shared.ts'
import { ORACLE_ACCOUNT } from './market-rows.ts'
import type { DatapointRow, PairRow } from './market-rows.ts'
import { nameValue } from '../runtime/index.ts'

/** Number of datapoint rows of an oracle pair. The contract overwrites the oldest row. */
const DATAPOINTS_PER_PAIR = 21

/** Index of the median in the sorted values. */
const MEDIAN_POSITION = 9

/** Handlers of the price oracle's actions. */
export const oracleActions: readonly [string, ActionHandler][] = [
  ['newbounty', newPair],
  ['votebounty', approvePair],
  ['write', write],
]

/** Creates a pair that is not approved yet, with empty datapoints. */
function newPair(context: ActionContext): void {
  const { proposer, pair } = context.data() as {
    proposer: string
    pair: Omit<PairRow, 'proposer'> & { readonly name: string }
  }
  context.put(
    { table: 'pairs', scope: ORACLE_ACCOUNT, key: nameValue(pair.name), payer: proposer },
    {
      ...pair,
      active: false,
      bounty_awarded: false,
      bounty_edited_by_custodians: false,
      proposer,
      bounty_amount: '0.00000000 WAX',
      approving_custodians: [],
      approving_oracles: [],
    },
  )
  for (let id = 0n; id < DATAPOINTS_PER_PAIR; id++) {
    const empty = { id, owner: '', value: 0n, median: 0n, timestamp: '1970-01-01T00:00:00.000' }
    context.put({ table: 'datapoints', scope: pair.name, key: id, payer: proposer }, empty)
  }
}

/** Approves a pair. In this devchain one custodian's vote suffices. */
function approvePair(context: ActionContext): void {
  const { owner, bounty } = context.data() as { owner: string; bounty: string }
  const key = nameValue(bounty)
  const row = readRow(context.get('pairs', ORACLE_ACCOUNT, key), `pair ${bounty}`)
  const { payer } = context.raw('pairs', ORACLE_ACCOUNT, key)!
  const approved = { ...row, active: true, bounty_awarded: true, approving_custodians: [owner] }
  context.put({ table: 'pairs', scope: ORACLE_ACCOUNT, key, payer }, approved)
}

/** Writes each quote, and the resulting median, into the row with the oldest timestamp. */
function write(context: ActionContext): void {
  const { owner, quotes } = context.data() as { owner: string; quotes: { value: bigint; pair: string }[] }
  const timestamp = new Date(context.host.nowMs).toISOString().slice(0, -1)
  for (const { value, pair } of quotes) {
    const rows = datapointsOf(context, pair)
    const oldest = rows.reduce((found, row) => (row.timestamp < found.timestamp ? row : found))
    const written = { ...oldest, owner, value, timestamp }
    const values = rows.map((row) => (row.id === oldest.id ? value : row.value))
    values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const median = values[Math.min(MEDIAN_POSITION, values.length >> 1)]!
    const { payer } = context.raw('datapoints', pair, oldest.id)!
    context.put({ table: 'datapoints', scope: pair, key: oldest.id, payer }, { ...written, median })
  }
}

/** The datapoints of a pair, in the order of their keys. */
function datapointsOf(context: ActionContext, pair: string): DatapointRow[] {
  const { rows } = context.host.state
  const table = rows.table(nameValue(ORACLE_ACCOUNT), nameValue(pair), nameValue('datapoints'))
  return [...(table?.rows.keys() ?? [])].map((key) => context.get('datapoints', pair, key)!)
}
