import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, bindIntegers, raw, sql, where } from '../../../sql/index.ts'
import { jsonMembers, jsonText, quoted } from '../../../json/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { Values } from '../../../../core/endpoint/index.ts'
import type { PageValues } from '../../nft/paging/index.ts'
import type { attributeRuleParameters, templateRuleParameters } from '../parameters.ts'

const times = {
  updated_at_block: quoted('nullif(r.updated_at_block, 0)'),
  updated_at_time: quoted('nullif(r.updated_at_time, 0)'),
  created_at_block: quoted('nullif(r.created_at_block, 0)'),
  created_at_time: quoted('nullif(r.created_at_time, 0)'),
}

/** @param contract an account name, so it needs no escaping. */
const ofCollection = (contract: string) => ({
  market_contract: `'"${contract}"'`,
  collection_name: quoted('r.collection_name'),
})

/** How a collection splits its fee, as JSON text; undefined when it has not said. */
export async function royaltyConfig(
  session: Session,
  contract: string,
  collection: string,
): Promise<string | undefined> {
  const rows = await session.query<[string]>({
    name: 'royalty-config',
    text: `SELECT '{' || ${jsonMembers({
      ...ofCollection(contract),
      founders: 'r.founders',
      attribute_mode: 'r.attribute_mode',
      split_founders: quoted('r.split_founders'),
      split_templates: quoted('r.split_templates'),
      split_attributes: quoted('r.split_attributes'),
      ...times,
    })} || '}' FROM market.royalty_configs r WHERE r.collection_name = $1::text`,
    values: [collection],
  })
  return rows[0]?.[0]
}

/** A page of the rules by template as JSON text, by template. */
export function royaltyTemplates(
  session: Session,
  contract: string,
  values: Values<ReturnType<typeof templateRuleParameters>>,
): Promise<string> {
  const templates = values.template_id
  return rulePage(session, values, {
    members: {
      ...ofCollection(contract),
      template_id: quoted('r.template_id'),
      recipients: 'r.recipients',
      ...times,
    },
    from: 'market.royalty_templates r',
    conditions: templates ? [sql`r.template_id = ANY(${bindIntegers(templates)})`] : [],
    order: 'r.template_id',
  })
}

/** A page of the rules by attribute as JSON text, by rule. */
export function royaltyAttributes(
  session: Session,
  contract: string,
  values: Values<ReturnType<typeof attributeRuleParameters>>,
): Promise<string> {
  const { source, field } = values
  return rulePage(session, values, {
    members: {
      ...ofCollection(contract),
      rule_id: quoted('r.rule_id'),
      source: 'r.source',
      field: jsonText('r.field'),
      value: 'r.value',
      weight: quoted('r.weight'),
      recipients: 'r.recipients',
      lookup_hash: quoted(`encode(r.lookup_hash, 'hex')`),
      ...times,
    },
    from: 'market.royalty_attributes r',
    conditions: [
      ...(source === undefined ? [] : [sql`r.source = ${bind(source, 'bigint')}`]),
      ...(field === undefined ? [] : [sql`r.field = ${bind(field, 'text')}`]),
    ],
    order: 'r.rule_id',
  })
}

/** Rules of a collection as data. */
interface RuleList {
  readonly members: Readonly<Record<string, string>>
  readonly from: string
  readonly conditions: readonly Sql[]
  readonly order: string
}

async function rulePage(
  session: Session,
  values: PageValues & { readonly collection_name: string },
  { members, from, conditions, order }: RuleList,
): Promise<string> {
  const window = pageWindow(values)
  const collection = sql`r.collection_name = ${bind(values.collection_name, 'text')}`
  const rows = await session.query<[string]>(
    sql`SELECT '{' || ${raw(jsonMembers(members))} || '}' FROM ${raw(from)} ${where([collection, ...conditions])}
      ORDER BY ${raw(order)} LIMIT ${raw(String(window.limit))} OFFSET ${raw(String(window.offset))}`.render(),
  )
  return `[${rows.map(([text]) => text).join(',')}]`
}
