import type { Session } from '../../../database/index.ts'
import type { Bindings } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import type { Ranked } from './ranking.ts'
import type { TradeRange } from './trade-range.ts'
import { inRange } from './trade-range.ts'

/** Things that are ranked by some of their trades. What they are of all their trades bounds what they are of some. */
export interface BoundedRanking {
  /**
   * SELECT of `k`, `t`, `s` and `v`: key, number and sum of all their trades, and which of the two is ranked by; without
   * an order.
   */
  readonly things: string
  /** ORDER BY of the same, an index's, the most first. */
  readonly order: string
  /** SELECT of `t` and `s` of a thing, `c`: number and sum of the trades that count. */
  readonly sums: string
  readonly by: 'trades' | 'volume'
  readonly bindings: Bindings
}

/** Things that are ranked by their trades in a range of time. */
export interface RangedRanking extends Omit<BoundedRanking, 'sums'> {
  /** Condition that ties a trade, `x`, to a thing, `c`. */
  readonly link: string
  /** Token placeholder. */
  readonly token: string
}

/** Trades up to which a range is summed up whole. */
const FEW_TRADES = 30_000
/** Things that are looked at in the order of all time, first and then, for each row of the page and besides. */
const LOOKS = [
  { each: 4, besides: 200 },
  { each: 40, besides: 2_000 },
] as const

/** Whether at most few trades lie in a range. */
export async function holdsFew(session: Session, symbol: string, range: TradeRange): Promise<boolean> {
  const rows = await session.query<[boolean]>({
    name: 'few-trades',
    text: `SELECT count(*) <= ${FEW_TRADES} FROM (SELECT FROM market.trades k
      WHERE k.token_symbol = $1::text AND k.trade_time >= $2::bigint AND k.trade_time < $3::bigint LIMIT ${FEW_TRADES + 1}) x`,
    values: [symbol, range.from, range.until],
  })
  return rows[0]![0]
}

/** The first of a ranking by trades in a range; undefined when that would take long. */
export async function rankInRange(
  session: Session,
  symbol: string,
  ranking: RangedRanking,
  range: TradeRange,
  window: PageWindow,
): Promise<Ranked[] | undefined> {
  const { link, token, bindings } = ranking
  const isMost = await holdsMost(session, symbol, range)
  const ofTrades = (within: readonly string[]): string =>
    `SELECT count(*) AS t, coalesce(sum(x.price), 0) AS s FROM market.trades x
      ${whereClause([`x.token_symbol = ${token}`, link, ...within])}`
  const within = inRange('x.trade_time', range, bindings)
  // Of a range that holds most trades the others are taken off.
  const sums = isMost
    ? `SELECT c.t - b.t - a.t AS t, c.s - b.s - a.s AS s FROM (${ofTrades([within[0]!.replace('>=', '<')])}) b
        CROSS JOIN (${ofTrades([within[1]!.replace('<', '>=')])}) a`
    : ofTrades(within)
  return rankWithin(session, { ...ranking, sums }, window)
}

/**
 * The first of a ranking: the things with most of all their trades are looked at, until what the next of them has of all
 * is less than what the last of the page has of those that count. Undefined when that would take long: their order is
 * another then.
 */
export async function rankWithin(
  session: Session,
  { things, order, sums, by, bindings }: BoundedRanking,
  window: PageWindow,
): Promise<Ranked[] | undefined> {
  const reach = window.offset + window.limit
  const value = by === 'trades' ? 'r.t' : 'r.s'
  for (const { each, besides } of LOOKS) {
    const looks = each * reach + besides
    const rows = await session.query<[...Ranked, value: string, bound: string]>({
      text: `WITH c AS MATERIALIZED (SELECT n.*, row_number() OVER () AS place FROM (${things} ORDER BY ${order} LIMIT ${looks + 1}) n),
          r AS (SELECT c.k, i.t, i.s FROM c CROSS JOIN LATERAL (${sums}) i WHERE c.place <= ${looks} AND i.t > 0)
        SELECT r.k::text, r.t::text, r.s::text, trunc(${value})::text, coalesce((SELECT trunc(c.v) FROM c WHERE c.place > ${looks}), 0)::text
        FROM r ORDER BY ${value} DESC, r.k LIMIT ${reach}`,
      values: bindings.values,
    })
    const last = rows[reach - 1]
    if (last && BigInt(last[3]) > BigInt(last[4])) {
      return rows.slice(window.offset).map(([key, trades, volume]) => [key, trades, volume])
    }
  }
  return undefined
}

/** Whether a range is longer than what is left of the time of all trades. */
async function holdsMost(session: Session, symbol: string, { from, until }: TradeRange): Promise<boolean> {
  const rows = await session.query<[string | null, string | null]>({
    name: 'time-of-trades',
    text: `SELECT min(k.trade_time)::text, max(k.trade_time)::text FROM market.trades k WHERE k.token_symbol = $1::text`,
    values: [symbol],
  })
  const [first, last] = rows[0]!
  const begin = Number(first ?? 0)
  const end = Number(last ?? 0)
  return 2 * (Math.min(until, end) - Math.max(from, begin)) > end - begin
}
