import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { jsonMembers, jsonText, oneOf, quoted } from '../../assets/index.ts'
import { bindIntegers, pageWindow } from '../../paging/index.ts'

/** What an account earned as JSON text, by token. */
export async function royaltySums(session: Session, values: Values): Promise<string> {
  const bindings = new Bindings()
  const before = values.int('before')
  const after = values.int('after')
  const conditions = [
    `l.recipient = ${bindings.bind(values.text('account')!, 'text')}`,
    ...oneOf('l.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('l.token_symbol', values.texts('symbol'), bindings),
    ...(before === undefined ? [] : [`l.paid_at_time < ${bindings.bind(before, 'bigint')}`]),
    ...(after === undefined ? [] : [`l.paid_at_time > ${bindings.bind(after, 'bigint')}`]),
  ]
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(json_build_object('token_symbol', y.token_symbol, 'token_precision', y.token_precision,
        'token_contract', y.token_contract, 'amount', s.amount::text, 'payout_count', s.payouts::text)
        ORDER BY y.token_symbol), '[]')::text
      FROM (SELECT l.token_symbol, sum(l.amount) AS amount, count(*) AS payouts FROM market.royalty_payouts l
        ${whereClause(conditions)} GROUP BY l.token_symbol) s JOIN market.tokens y USING (token_symbol)`,
    values: bindings.values,
  })
  return rows[0]![0]
}

const moments = {
  updated_at_block: quoted('r.updated_at_block'),
  updated_at_time: quoted('r.updated_at_time'),
  created_at_block: quoted('r.created_at_block'),
  created_at_time: quoted('r.created_at_time'),
}

/** `$1` is the market contract. */
const ofCollection = {
  market_contract: `to_json($1::text)::text`,
  collection_name: quoted('r.collection_name'),
}

/** How a collection splits its fee, as JSON text; undefined when it has not said. */
export async function royaltyConfig(
  session: Session,
  contract: string,
  collection: string,
): Promise<string | undefined> {
  const rows = await session.query<[string]>({
    name: 'royalty-config',
    text: `SELECT '{' || ${jsonMembers({
      ...ofCollection,
      founders: 'r.founders',
      attribute_mode: 'r.attribute_mode',
      split_founders: quoted('r.split_founders'),
      split_templates: quoted('r.split_templates'),
      split_attributes: quoted('r.split_attributes'),
      ...moments,
    })} || '}' FROM market.royalty_configs r WHERE r.collection_name = $2::text`,
    values: [contract, collection],
  })
  return rows[0]?.[0]
}

/** A page of the rules by template as JSON text, by template. */
export function royaltyTemplates(session: Session, contract: string, values: Values): Promise<string> {
  const bindings = new Bindings()
  bindings.bind(contract, 'text')
  const templates = values.ids('template_id')
  return rulePage(session, values, bindings, {
    members: {
      ...ofCollection,
      template_id: quoted('r.template_id'),
      recipients: 'r.recipients',
      ...moments,
    },
    from: 'market.royalty_templates r',
    conditions: templates ? [`r.template_id = ANY(${bindIntegers(templates, bindings)})`] : [],
    order: 'r.template_id',
  })
}

/** A page of the rules by attribute as JSON text, by rule. */
export function royaltyAttributes(session: Session, contract: string, values: Values): Promise<string> {
  const bindings = new Bindings()
  bindings.bind(contract, 'text')
  const source = values.int('source')
  const field = values.text('field')
  return rulePage(session, values, bindings, {
    members: {
      ...ofCollection,
      rule_id: quoted('r.rule_id'),
      source: 'r.source',
      field: jsonText('r.field'),
      value: 'r.value',
      weight: quoted('r.weight'),
      recipients: 'r.recipients',
      lookup_hash: quoted(`encode(r.lookup_hash, 'hex')`),
      ...moments,
    },
    from: 'market.royalty_attributes r',
    conditions: [
      ...(source === undefined ? [] : [`r.source = ${bindings.bind(source, 'bigint')}`]),
      ...oneOf('r.field', field === undefined ? undefined : [field], bindings),
    ],
    order: 'r.rule_id',
  })
}

/** Rules of a collection as data. */
interface RuleList {
  readonly members: Readonly<Record<string, string>>
  readonly from: string
  readonly conditions: readonly string[]
  readonly order: string
}

async function rulePage(
  session: Session,
  values: Values,
  bindings: Bindings,
  { members, from, conditions, order }: RuleList,
): Promise<string> {
  const window = pageWindow(values)
  if (!window) return '[]'
  const collection = `r.collection_name = ${bindings.bind(values.text('collection_name')!, 'text')}`
  const rows = await session.query<[string]>({
    text: `SELECT '{' || ${jsonMembers(members)} || '}' FROM ${from} ${whereClause([collection, ...conditions])}
      ORDER BY ${order} LIMIT ${window.limit} OFFSET ${window.offset}`,
    values: bindings.values,
  })
  return `[${rows.map(([text]) => text).join(',')}]`
}
