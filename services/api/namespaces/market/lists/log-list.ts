import type { Session } from '../../../database/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { LogValues } from '../../nft/logs/index.ts'
import { chosenActions, logList } from '../../nft/logs/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { ListingLog } from '../records/log-records.ts'
import type { MarketSetup } from '../setup.ts'
import type { ListingKind } from './listing-table.ts'
import { listingTables } from './listing-table.ts'

/** The listing whose log is requested, with the actions and the record type of the log. */
export interface LogsOf extends ListingLog {
  readonly kind: ListingKind
  /** Id of the listing. */
  readonly id: bigint
}

/** A page of the logs of a listing as JSON text. */
export async function selectMarketLogs(
  session: Session,
  { lists }: Pick<MarketSetup, 'lists'>,
  values: LogValues,
  logs: LogsOf,
): Promise<string> {
  const window = pageWindow(values)
  const actions = chosenActions(logs.actions, values)
  if (actions.length === 0) return '[]'
  await lists.statistics.refresh(session)
  const { kind, table, key, symbol } = listingTables[logs.kind]
  const logTable = {
    from: raw('market.logs l'),
    table: 'market.logs',
    actions: raw(`(SELECT * FROM market.log_actions WHERE kind = ${kind})`),
  }
  const list = logList(logTable, { id: logs.id, actions }, values)
  const plan = lists.plan(list, window)
  if (!plan) return '[]'
  const { keys, reason } = plan
  const statement = sql`SELECT ${raw(logs.record.packed)}
      FROM (${keys}) p JOIN (market.logs e JOIN market.log_actions n USING (action))
          ON e.seq = p.k AND e.subject = ${bind(logs.id, 'bigint')}
        LEFT JOIN ${raw(table)} l ON l.${raw(key)} = e.subject
        LEFT JOIN market.tokens y ON y.token_symbol = l.${raw(symbol)}
        LEFT JOIN LATERAL market.origin_of(e.seq) x ON true
      ORDER BY p.n`
  const rows = await session.query<[string]>({ ...statement.render(), reason })
  return `[${rows.flatMap(([row]) => logs.record.read(row)).join(',')}]`
}
