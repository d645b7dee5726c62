import { oracleTables as tables } from '../tables/index.ts'
import { big, contractTable, flag, int, precision, scope, symbol, text, texts } from './contract-table.ts'

/**
 * Maximum number of decimal places of a pair: the column that stores the number is a 32-bit integer. Real pairs have
 * far fewer.
 */
const GREATEST_PRECISION = 2 ** 31 - 1

/** Tables of the oracle contract. */
export const oracleContract = {
  pairs: contractTable({ family: 'oracle', name: 'pairs', primary: 'name' }, tables.pairs, {
    pair_name: text('name'),
    active: flag('active'),
    bounty_awarded: flag('bounty_awarded'),
    bounty_edited_by_custodians: flag('bounty_edited_by_custodians'),
    proposer: text('proposer'),
    bounty_amount: text('bounty_amount'),
    approving_custodians: texts('approving_custodians'),
    approving_oracles: texts('approving_oracles'),
    base_symbol: symbol('base_symbol'),
    base_precision: precision('base_symbol'),
    base_type: int('base_type'),
    base_contract: text('base_contract'),
    quote_symbol: symbol('quote_symbol'),
    quote_precision: precision('quote_symbol'),
    quote_type: int('quote_type'),
    quote_contract: text('quote_contract'),
    median_precision: ({ data }) => Math.min(Number(data.quoted_precision), GREATEST_PRECISION),
  }),
  datapoints: contractTable({ family: 'oracle', name: 'datapoints', primary: 'id' }, tables.datapoints, {
    pair_name: scope,
    id: big('id'),
    value: big('value'),
    median: big('median'),
    point_time: ({ data }) => BigInt(Date.parse(`${(data.timestamp as string).replace(/Z$/, '')}Z`)),
    owner: text('owner'),
  }),
}
