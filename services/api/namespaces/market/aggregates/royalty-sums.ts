import { isText, oneOf } from '../../nft/conditions/index.ts'
import type { Session } from '../../../database/index.ts'
import { bind, sql, where } from '../../../sql/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import type { royaltySumParameters } from '../parameters.ts'

/** Royalties of an account, summed by token, as JSON text. */
export async function royaltySums(
  session: Session,
  values: Values<typeof royaltySumParameters>,
): Promise<string> {
  const { before, after } = values
  const conditions = [
    ...isText('l.recipient', values.account),
    ...oneOf('l.collection_name', values.collection_name),
    ...oneOf('l.token_symbol', values.symbol),
    ...(before === undefined ? [] : [sql`l.paid_at_time < ${bind(before, 'bigint')}`]),
    ...(after === undefined ? [] : [sql`l.paid_at_time > ${bind(after, 'bigint')}`]),
  ]
  const rows = await session.query<[string]>(
    sql`SELECT coalesce(json_agg(json_build_object('token_symbol', y.token_symbol, 'token_precision', y.token_precision,
        'token_contract', y.token_contract, 'amount', s.amount::text, 'payout_count', s.payouts::text)
        ORDER BY y.token_symbol), '[]')::text
      FROM (SELECT l.token_symbol, sum(l.amount) AS amount, count(*) AS payouts FROM market.royalty_payouts l
        ${where(conditions)} GROUP BY l.token_symbol) s JOIN market.tokens y USING (token_symbol)`.render(),
  )
  return rows[0]![0]
}
