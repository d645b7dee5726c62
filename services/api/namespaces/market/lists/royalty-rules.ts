import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, bindIntegers, raw, sql, where } from '../../../sql/index.ts'
import type { PlainRecord } from '../../../records/fields/index.ts'
import {
  royaltyAttributeRecord,
  royaltyConfigRecord,
  royaltyTemplateRecord,
} from '../records/royalty-schemas.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import type { PageValues } from '../../nft/paging/index.ts'
import type { attributeRuleParameters, templateRuleParameters } from '../parameters.ts'

/** How a collection splits its fee, as JSON text; undefined if the collection has set no split. */
export async function royaltyConfig(
  session: Session,
  contract: string,
  collection: string,
): Promise<string | undefined> {
  const rows = await session.query<[string]>({
    name: 'royalty-config',
    text: `SELECT ${royaltyConfigRecord.packed} FROM market.royalty_configs r WHERE r.collection_name = $1::text`,
    values: [collection],
  })
  return royaltyConfigRecord.read(rows[0]?.[0], { market_contract: `"${contract}"` })[0]
}

/** One page of a collection's royalty rules by template, as JSON text in the order of template ids. */
export function royaltyTemplates(
  session: Session,
  contract: string,
  values: Values<ReturnType<typeof templateRuleParameters>>,
): Promise<string> {
  const templates = values.template_id
  return rulePage(session, values, {
    record: royaltyTemplateRecord,
    contract,
    from: 'market.royalty_templates r',
    conditions: templates ? [sql`r.template_id = ANY(${bindIntegers(templates)})`] : [],
    order: 'r.template_id',
  })
}

/** One page of a collection's royalty rules by attribute, as JSON text in the order of rule ids. */
export function royaltyAttributes(
  session: Session,
  contract: string,
  values: Values<ReturnType<typeof attributeRuleParameters>>,
): Promise<string> {
  const { source, field } = values
  return rulePage(session, values, {
    record: royaltyAttributeRecord,
    contract,
    from: 'market.royalty_attributes r',
    conditions: [
      ...(source === undefined ? [] : [sql`r.source = ${bind(source, 'bigint')}`]),
      ...(field === undefined ? [] : [sql`r.field = ${bind(field, 'text')}`]),
    ],
    order: 'r.rule_id',
  })
}

/** Query and record type for one list of royalty rules of a collection. */
interface RuleList {
  readonly record: PlainRecord
  /** Account of the market contract. */
  readonly contract: string
  readonly from: string
  readonly conditions: readonly Sql[]
  readonly order: string
}

async function rulePage(
  session: Session,
  values: PageValues & { readonly collection_name: string },
  { record, contract, from, conditions, order }: RuleList,
): Promise<string> {
  const window = pageWindow(values)
  const collection = sql`r.collection_name = ${bind(values.collection_name, 'text')}`
  const rows = await session.query<[string]>(
    sql`SELECT ${raw(record.packed)} FROM ${raw(from)} ${where([collection, ...conditions])}
      ORDER BY ${raw(order)} LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}`.render(),
  )
  const given = { market_contract: `"${contract}"` }
  return `[${rows.flatMap(([row]) => record.read(row, given)).join(',')}]`
}
