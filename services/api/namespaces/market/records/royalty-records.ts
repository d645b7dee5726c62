import { raw } from '../../../sql/index.ts'
import type { Assembler } from '../../../records/index.ts'
import { jsonMembers, quoted } from '../../../json/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import type { MarketTraits } from './asset-members.ts'
import { categories, listingTypes } from './royalty-schemas.ts'

/** SQL that spells out a code. @param first code of the first name. */
function spelled(column: string, names: readonly string[], first: number): string {
  const cases = names.map((name, index) => `WHEN ${index + first} THEN '"${name}"'`)
  return `CASE ${column} ${cases.join(' ')} END`
}

const MEMBERS = jsonMembers({
  log_global_sequence: quoted('l.seq'),
  payout_index: 'l.payout_index',
  listing_type: spelled('l.kind', listingTypes, 0),
  listing_id: quoted('l.listing_id'),
  category: spelled('l.category', categories, 1),
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
})

/** Assembles payouts, by `seq/payout_index`. */
export function payoutAssembler({ contract }: Pick<MarketTraits, 'contract'>): Assembler {
  return {
    keyType: 'text',
    columnCount: 1,
    select: (keys) => ({
      ctes: [],
      columns: [
        raw(`(SELECT ${packRows(['p.k', 'l.members'], 'p.n')} FROM ${keys} p CROSS JOIN LATERAL (
          SELECT ${MEMBERS} AS members FROM market.royalty_payouts l JOIN market.tokens y USING (token_symbol)
            LEFT JOIN LATERAL market.origin_of(l.seq) x ON true
          WHERE l.seq = split_part(p.k, '/', 1)::bigint
            AND l.payout_index = split_part(p.k, '/', 2)::smallint OFFSET 0) l)`),
      ],
    }),
    read: ([rows]) => ({
      versions: new Map(),
      assemble: () =>
        new Map(
          unpackRows<[string, string]>(rows).map(([key, members]) => [
            key,
            `{"market_contract":"${contract}",${members}}`,
          ]),
        ),
    }),
  }
}
