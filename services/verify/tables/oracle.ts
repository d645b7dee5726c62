import type { VerifiedTable } from './table.ts'
import { byName, flag, id, int, plain, symbolAs, text } from './values.ts'

/** Tables of the oracle contract. */
export const oracleTables: readonly VerifiedTable[] = [
  {
    name: 'oracle.pairs',
    family: 'oracle',
    contractTable: 'pairs',
    key: [{ name: 'pair_name', type: 'text' }],
    from: 'oracle.pairs t',
    columns: [
      plain('active', 'boolean'),
      plain('bounty_awarded', 'boolean'),
      plain('bounty_edited_by_custodians', 'boolean'),
      plain('proposer', 'text'),
      plain('bounty_amount', 'text'),
      plain('approving_custodians', 'text[]'),
      plain('approving_oracles', 'text[]'),
      plain('base_symbol', 'text'),
      plain('base_precision', 'integer'),
      plain('base_type', 'integer'),
      plain('base_contract', 'text'),
      plain('quote_symbol', 'text'),
      plain('quote_precision', 'integer'),
      plain('quote_type', 'integer'),
      plain('quote_contract', 'text'),
      plain('median_precision', 'integer'),
    ],
    expect: ({ data }) => ({
      key: [text(data.name)],
      values: {
        active: flag(data.active),
        bounty_awarded: flag(data.bounty_awarded),
        bounty_edited_by_custodians: flag(data.bounty_edited_by_custodians),
        proposer: text(data.proposer),
        bounty_amount: text(data.bounty_amount),
        approving_custodians: data.approving_custodians,
        approving_oracles: data.approving_oracles,
        ...symbolAs(data.base_symbol, 'base_symbol', 'base_precision'),
        base_type: int(data.base_type),
        base_contract: text(data.base_contract),
        ...symbolAs(data.quote_symbol, 'quote_symbol', 'quote_precision'),
        quote_type: int(data.quote_type),
        quote_contract: text(data.quote_contract),
        median_precision: Math.min(int(data.quoted_precision), 2 ** 31 - 1),
      },
    }),
    locate: byName,
  },
  {
    name: 'oracle.datapoints',
    family: 'oracle',
    contractTable: 'datapoints',
    key: [
      { name: 'pair_name', type: 'text' },
      { name: 'id', type: 'bigint' },
    ],
    from: 'oracle.datapoints t',
    columns: [
      { name: 'value', sql: 't.value::text', type: 'numeric' },
      { name: 'median', sql: 't.median::text', type: 'numeric' },
      plain('point_time', 'bigint'),
      plain('owner', 'text'),
    ],
    expect: ({ scope, data }) => ({
      key: [scope, id(data.id)],
      values: {
        value: id(data.value),
        median: id(data.median),
        point_time: Date.parse(`${text(data.timestamp).replace(/Z$/, '')}Z`),
        owner: text(data.owner),
      },
    }),
    locate: ([pair, point]) => ({ scope: pair!, primary: BigInt(point!) }),
  },
]
