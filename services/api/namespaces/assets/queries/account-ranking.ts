import type { Bindings, Session } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import type { PageWindow } from '../../paging/index.ts'

/**
 * How many assets of an account match. No account has more that match than it has assets: so the accounts with the most
 * that match are found among those with the most assets, and counting ends where nothing better can follow.
 */
export interface AccountMatch {
  /** WITH items; they may read `k`. */
  readonly with?: string
  /** JOIN that gives each row `k` of a counter what `count` needs. */
  readonly join: string
  /** Number of assets of `k` that match, from 0 to `k.assets`. */
  readonly count: string
  /** Condition under which nothing is known; it may read what `with` has made. */
  readonly isUnknown?: string
}

/** Accounts, and how many of their assets match. */
export interface AccountRanking {
  /** Table with the number of assets of each account. */
  readonly counters: string
  /** Conditions on a row `k` of it. */
  readonly conditions: readonly string[]
  readonly match: AccountMatch
  readonly bindings: Bindings
}

/** An account and a number of assets, as a row of an answer. */
export function accountRow(account: string, assets: string): string {
  return `concat('{"account":"', ${account}, '","assets":"', ${assets}, '"}')`
}

/** Accounts that are looked at, at first, for each one up to the end of the page. */
const FIRST = 2
const MORE = 4
const LEAST = 100

/**
 * The page of accounts with the most matching assets, ties by name, as JSON text. Looks at the accounts with the most
 * assets, at ever more of them until the page is sure.
 */
export async function rankedPage(
  session: Session,
  ranking: AccountRanking,
  window: PageWindow,
): Promise<string[]> {
  let looked = (window.offset + window.limit) * FIRST + LEAST
  for (;;) {
    const page = await pageAmong(session, ranking, window, looked)
    if (page) return page
    looked *= MORE
  }
}

/** More assets than any account has. */
const BEYOND_ALL = '9223372036854775807'

/**
 * The page, looking at so many accounts with the most assets, and at up to `further` more that have as many assets as
 * the last of the page, so far, has matching ones; undefined when an account beyond these might belong to it.
 */
export async function pageAmong(
  session: Session,
  { counters, conditions, match, bindings }: AccountRanking,
  { offset, limit }: PageWindow,
  looked: number,
  further = 0,
): Promise<string[] | undefined> {
  // One more account than is looked at tells how many assets those beyond have at most.
  const first = further === 0 ? looked + 1 : looked
  const unknown = match.isUnknown === undefined ? 'false' : match.isUnknown
  const counted = (ranked: string): string =>
    `(WITH k AS MATERIALIZED (${ranked})${match.with === undefined ? '' : `, ${match.with}`}
      SELECT k.account, k.assets AS owned, ${match.count} AS assets, ${unknown} AS is_unknown FROM k ${match.join})`
  const ranked = (all: readonly string[]): string =>
    `SELECT k.account, k.assets FROM ${counters} k ${whereClause(all)} ORDER BY k.assets DESC, k.account`
  const next = `${ranked([...conditions, 'k.assets >= (SELECT bar.assets FROM bar)'])} LIMIT ${further + 1} OFFSET ${looked}`
  const text = `WITH f AS MATERIALIZED ${counted(`${ranked(conditions)} LIMIT ${first}`)},
    bar AS MATERIALIZED (SELECT coalesce((SELECT f.assets FROM f ORDER BY f.assets DESC LIMIT 1 OFFSET ${offset + limit - 1}), 0) AS assets),
    m AS MATERIALIZED (SELECT f.* FROM f ${further === 0 ? '' : `UNION ALL SELECT n.* FROM ${counted(next)} n`}),
    beyond AS (SELECT CASE WHEN bool_or(m.is_unknown) THEN ${BEYOND_ALL}
      WHEN count(*) > ${looked + further} THEN min(m.owned) ELSE 0 END AS assets FROM m)
    SELECT ${accountRow('m.account', 'm.assets')}, m.assets > beyond.assets, beyond.assets = 0
    FROM beyond LEFT JOIN LATERAL (SELECT * FROM m WHERE m.assets > 0
      ORDER BY m.assets DESC, m.account LIMIT ${limit} OFFSET ${offset}) m ON true`
  const rows = await session.query<[string, isSure: boolean | null, isWhole: boolean]>({
    text,
    values: bindings.values,
  })
  const found = rows.filter(([, isSure]) => isSure !== null)
  const isWhole = rows[0]![2]
  if (!isWhole && (found.length < limit || found.at(-1)![1] === false)) return undefined
  return found.map(([row]) => row)
}
