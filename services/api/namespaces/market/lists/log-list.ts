import type { Session } from '../../../database/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { ReadPage } from '../../../planner/index.ts'
import { chosenActions, logFields, logList } from '../../nft/logs/index.ts'
import { declareRecord } from '../../../records/fields/index.ts'
import type { PlainRecord } from '../../../records/fields/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { ListingKind } from './listing-table.ts'
import { listingTables } from './listing-table.ts'
import type { LoggedActions, LogValues } from '../../nft/logs/index.ts'

/** An amount as the chain writes it, for example `5.00000000 WAX`: a product has all digits, a quotient 16 of them. */
const assetText = (amount: string): string =>
  `(${amount} * ('1e-' || y.token_precision)::numeric) || ' ' || y.token_symbol`

const LISTED = `jsonb_build_object('maker_marketplace', l.maker_marketplace, 'collection_fee', l.collection_fee)`
const TAKEN = `jsonb_build_object('taker_marketplace', l.taker_marketplace)`

/** Data of actions that is stored in the row of the listing; `l` is the row, `y` its token. */
const said: Readonly<Record<ListingKind, Readonly<Record<string, string>>>> = {
  sale: {
    lognewsale: LISTED,
    logsalestart: `jsonb_build_object('offer_id', l.offer_id::text)`,
    purchasesale: `${TAKEN} || jsonb_build_object('intended_delphi_median', coalesce(l.intended_median, 0)::text)`,
  },
  auction: {
    lognewauct: `${LISTED} || jsonb_build_object('starting_bid', ${assetText('l.starting_price')})`,
  },
  buyoffer: { lognewbuyo: LISTED, acceptbuyo: TAKEN },
  template_buyoffer: { lognewtbuyo: LISTED, fulfilltbuyo: TAKEN },
}

/** What royalty actions said: the payouts with their sequence. */
const PAYOUTS = `(SELECT CASE WHEN min(p.category) = 4
      THEN jsonb_build_object('collection_name', min(p.collection_name), 'collection_author', min(p.recipient),
        'amount', min(${assetText('p.amount')}))
      ELSE jsonb_strip_nulls(jsonb_build_object('collection_name', min(p.collection_name),
        'asset_id', min(p.asset_id)::text, 'template_id', min(p.template_id), 'rule_id', min(p.rule_id)::text,
        'payouts', jsonb_agg(jsonb_build_object('recipient', p.recipient, 'amount', ${assetText('p.amount')})
          ORDER BY p.payout_index))) END
    FROM market.royalty_payouts p JOIN market.tokens y USING (token_symbol) WHERE p.seq = e.seq)`

function dataOf(kind: ListingKind): string {
  const cases = Object.entries(said[kind]).map(([name, text]) => `WHEN '${name}' THEN ${text}`)
  return `coalesce(e.data, CASE n.name ${cases.join(' ')} ELSE
    CASE WHEN starts_with(n.name, 'logroy') THEN ${PAYOUTS} END END, '{}')`
}

/** The record of a log of one kind of listing. */
export function listingLog(
  kind: ListingKind,
  title: string,
  of: string,
  actions: LoggedActions,
): PlainRecord {
  const data = `(${dataOf(kind)})::text`
  return declareRecord(
    title,
    `An action on ${of}`,
    logFields(actions, { seq: 'e.seq', name: 'n.name', data }),
  )
}

/** Whose logs are wanted. */
export interface LogsOf {
  readonly kind: ListingKind
  /** Listing. */
  readonly id: bigint
  /** Names of the actions that this kind of listing has. */
  readonly actions: readonly string[]
  readonly record: PlainRecord
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
  const read: ReadPage<string> = async ({ keys, reason }) => {
    const statement = sql`SELECT ${raw(logs.record.packed)}
      FROM (${keys}) p JOIN (market.logs e JOIN market.log_actions n USING (action))
          ON e.seq = p.k AND e.subject = ${bind(logs.id, 'bigint')}
        LEFT JOIN ${raw(table)} l ON l.${raw(key)} = e.subject
        LEFT JOIN market.tokens y ON y.token_symbol = l.${raw(symbol)}
        LEFT JOIN LATERAL market.origin_of(e.seq) x ON true
      ORDER BY p.n`
    const rows = await session.query<[string]>({ ...statement.render(), reason })
    return { records: rows.flatMap(([row]) => logs.record.read(row)).join(',') }
  }
  return `[${(await lists.page(list, window, read)) ?? ''}]`
}
