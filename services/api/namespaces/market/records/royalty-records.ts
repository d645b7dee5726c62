import type { Session } from '../../../database/index.ts'
import { jsonMembers, packRows, queryPacked, quoted } from '../../assets/index.ts'
import type { KeyPage } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { CATEGORIES, LISTING_TYPES } from './royalty-schemas.ts'

/** SQL that spells out a code. @param first code of the first name. */
function spelled(column: string, names: readonly string[], first: number): string {
  const cases = names.map((name, index) => `WHEN ${index + first} THEN '"${name}"'`)
  return `CASE ${column} ${cases.join(' ')} END`
}

/** `$1`: keys `seq/payout_index`; `$2`: market contract. */
const PAYOUTS = {
  name: 'payout-records',
  text: `SELECT ${packRows([
    'k.key',
    jsonMembers({
      market_contract: `'"' || $2::text || '"'`,
      log_global_sequence: quoted('l.seq'),
      payout_index: 'l.payout_index',
      listing_type: spelled('l.kind', LISTING_TYPES, 0),
      listing_id: quoted('l.listing_id'),
      category: spelled('l.category', CATEGORIES, 1),
      collection_name: quoted('l.collection_name'),
      asset_id: quoted('l.asset_id'),
      template_id: quoted('l.template_id'),
      rule_id: quoted('l.rule_id'),
      recipient: quoted('l.recipient'),
      amount: quoted('l.amount'),
      token_symbol: quoted('y.token_symbol'),
      token_precision: 'y.token_precision',
      token_contract: quoted('y.token_contract'),
      txid: quoted(`encode(x.txid, 'hex')`),
      created_at_block: quoted('x.block_num'),
      created_at_time: quoted('x.block_time'),
    }),
  ])}
    FROM unnest($1::text[]) AS k(key)
      JOIN market.royalty_payouts l ON l.seq = split_part(k.key, '/', 1)::bigint
        AND l.payout_index = split_part(k.key, '/', 2)::smallint
      JOIN market.tokens y USING (token_symbol)
      LEFT JOIN LATERAL market.origin_of(l.seq) x ON true`,
}

/** Payouts by `seq/payout_index`, in the order of the page. */
export async function renderPayouts(
  session: Session,
  { contract }: MarketSetup,
  { keys }: KeyPage,
): Promise<string[]> {
  if (keys.length === 0) return []
  const rows = await queryPacked<[string, string]>(session, { ...PAYOUTS, values: [keys, contract] })
  const records = new Map(rows)
  return keys.flatMap((key) => (records.has(key) ? [`{${records.get(key)!}}`] : []))
}
