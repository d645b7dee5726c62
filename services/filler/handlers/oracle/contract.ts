import { struct } from '../declaration.ts'
import type { ActionOf, RowOf } from '../handler.ts'

/** Decoded data of the action `write`. */
export interface Write {
  owner: string
  quotes: readonly { value: bigint; pair: string }[]
}

/** A row of the contract table `pairs`. */
export interface PairState {
  active: boolean
  bounty_awarded: boolean
  bounty_edited_by_custodians: boolean
  proposer: string
  name: string
  bounty_amount: string
  approving_custodians: readonly string[]
  approving_oracles: readonly string[]
  base_symbol: string
  base_type: number
  base_contract: string
  quote_symbol: string
  quote_type: number
  quote_contract: string
  quoted_precision: bigint
}

/** A row of the contract table `datapoints`; the scope is the pair. */
export interface DatapointState {
  id: bigint
  owner: string
  value: bigint
  median: bigint
  /** Time as text, e.g. 2026-11-20T09:55:34.819. */
  timestamp: string
}

/** Actions that the handler reads. */
export const actions = { write: struct<Write>() }

/** Contract tables that the handler reads. */
export const rows = {
  pairs: struct<PairState>().withWide('quoted_precision'),
  datapoints: struct<DatapointState>().withWide('value', 'median'),
}

export type OracleAction = ActionOf<typeof actions>
export type OracleRowEvent = RowOf<typeof rows>

const texts = [
  'proposer',
  'name',
  'bounty_amount',
  'base_symbol',
  'base_contract',
  'quote_symbol',
  'quote_contract',
]
const lists = ['approving_custodians', 'approving_oracles']
const integers = ['base_type', 'quote_type']

/**
 * Parses a `pairs` row in the JSON format of a node's HTTP API.
 * @throws TypeError for a row of another format.
 */
export function parsePair(row: Readonly<Record<string, unknown>>): PairState {
  const isText = (value: unknown) => typeof value === 'string'
  const isPair =
    texts.every((field) => isText(row[field])) &&
    lists.every((field) => Array.isArray(row[field]) && row[field].every(isText)) &&
    integers.every((field) => Number.isInteger(row[field]))
  if (!isPair) throw new TypeError('the row is not a row of the pairs table')
  return {
    ...(row as unknown as PairState),
    active: Boolean(row.active),
    bounty_awarded: Boolean(row.bounty_awarded),
    bounty_edited_by_custodians: Boolean(row.bounty_edited_by_custodians),
    quoted_precision: BigInt(row.quoted_precision as string | number),
  }
}

/** Parses a `datapoints` row in the JSON format of a node's HTTP API. */
export function parseDatapoint(row: Readonly<Record<string, unknown>>): DatapointState {
  const integer = (value: unknown) => BigInt(value as string | number)
  return {
    id: integer(row.id),
    owner: String(row.owner),
    value: integer(row.value),
    median: integer(row.median),
    timestamp: String(row.timestamp),
  }
}
