import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { containsText, isNoneOf } from '../../nft/conditions/index.ts'
import { nameFilter } from '../../nft/filters/index.ts'
import type { PartyValues } from '../parameters.ts'

/** The table whose rows have a sender, a recipient and a memo: offers or transfers. */
export interface PartyTable {
  /** Schema-qualified name, such as `assets.offers`. `Statistics` stores row estimates by this name. */
  readonly table: string
  readonly alias: string
}

/** Approximate share of the offers or transfers between two accounts without contract code. */
const WITHOUT_CODE = 0.7

/** Filters on sender, recipient and memo. */
export function partyFilters(
  values: PartyValues,
  statistics: Statistics,
  { table, alias }: PartyTable,
): Filter[] {
  const source = { table, alias }
  return [
    ...(['account', 'account_whitelist'] as const).flatMap((name) =>
      eitherSide(name, values, statistics, source),
    ),
    ...(['sender', 'recipient'] as const).flatMap((name) => {
      const names = values[name]
      return names ? [nameFilter(name, names, statistics, { ...source, column: name })] : []
    }),
    ...memoFilters(values, statistics, source),
    ...contractFilter(values, statistics, source),
  ]
}

/**
 * Filter on rows whose sender or recipient is one of the accounts. The filter has two disjoint parts: rows with such a
 * sender, and rows with such a recipient but another sender.
 */
function eitherSide(
  name: 'account' | 'account_whitelist',
  values: PartyValues,
  statistics: Statistics,
  source: PartyTable,
): Filter[] {
  const names = values[name]
  if (!names) return []
  const sent = nameFilter(name, names, statistics, { ...source, column: 'sender' })
  const received = nameFilter(name, names, statistics, { ...source, column: 'recipient' })
  if (names.length === 0) return [{ ...sent, condition: NEVER }]
  const all = statistics.rows(source.table)
  return [
    {
      name,
      condition: sql`(${sent.condition} OR ${received.condition})`,
      rows: Math.min(all, sent.rows + received.rows),
      columns: ['sender', 'recipient'],
      isIndexed: true,
      parts: [{ filter: sent }, { filter: received, apart: isNoneOf(raw(`${source.alias}.sender`), names) }],
    },
  ]
}

function memoFilters(values: PartyValues, statistics: Statistics, { table, alias }: PartyTable): Filter[] {
  const { memo, match_memo: match } = values
  const column = raw(`${alias}.memo`)
  const filters: Filter[] = []
  if (memo !== undefined) {
    filters.push({
      name: 'memo',
      condition: sql`${column} = ${bind(memo, 'text')}`,
      rows: statistics.equal(table, 'memo', [memo]),
      columns: ['memo'],
      isIndexed: true,
    })
  }
  if (match !== undefined) {
    const term = match.toLowerCase()
    filters.push({
      name: 'match_memo',
      condition: containsText(column, match),
      rows: statistics.sampled(table, 'memo', (text) => text.toLowerCase().includes(term)),
      columns: ['memo'],
      // The trigram index serves only a search for text with at least three consecutive letters or digits.
      isIndexed: /[\p{L}\p{N}]{3}/u.test(match),
    })
  }
  return filters
}

/**
 * Filter of the parameter `hide_contracts`: neither the sender nor the recipient has contract code. Accounts that the
 * request names may have code.
 */
function contractFilter(values: PartyValues, statistics: Statistics, { table, alias }: PartyTable): Filter[] {
  if (values.hide_contracts !== true) return []
  const named = (['account', 'sender', 'recipient'] as const).flatMap((name) => values[name] ?? [])
  const exempt: Sql =
    named.length === 0 ? raw('') : sql` AND h.account <> ALL(${bind([...new Set(named)], 'text[]')})`
  const sides = raw(`h.account IN (${alias}.sender, ${alias}.recipient)`)
  const lacksCode = (side: string): Sql =>
    sql`NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${raw(`${alias}.${side}`)}${exempt})`
  return [
    {
      name: 'hide_contracts',
      condition: sql`NOT EXISTS (SELECT FROM chain.code_accounts h WHERE ${sides}${exempt} OFFSET 0)`,
      // `condition` and `found` select the same rows. `condition` looks up the accounts with code for each row, which
      // is faster for few rows. `found` joins the table of accounts with code, which is faster for many rows.
      found: sql`${lacksCode('sender')} AND ${lacksCode('recipient')}`,
      rows: statistics.rows(table) * WITHOUT_CODE,
      isIndexed: false,
      visits: 1,
    },
  ]
}
