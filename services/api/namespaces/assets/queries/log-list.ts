import type { Session, SqlValue } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { directionOf, pageWindow } from '../../paging/index.ts'
import { jsonMembers, quoted } from '../records/index.ts'

/** Whose logs are wanted. */
export interface LogSubject {
  /** Asset, offer or template id, or the name of a collection as a signed number. */
  readonly id: bigint
  /** The schema within the collection, for the logs of a schema. */
  readonly schema?: string
  /** The collection that a template must belong to. */
  readonly templateOf?: string
}

/** A row of the log. */
export type LogRow = readonly [
  /** JSON members of the record, without `name` and `data`. */
  members: string,
  action: string,
  /** JSON object of what the action said, or null when nothing. */
  data: string | null,
  /** Two attribute maps as the action packed them, or null. */
  packed: Uint8Array | null,
]

/** The mint of an asset is told by the asset itself. */
const MINT = 'logmint'

const MEMBERS = jsonMembers({
  log_id: quoted('e.seq'),
  txid: quoted(`encode(x.txid, 'hex')`),
  created_at_block: quoted('x.block_num'),
  created_at_time: quoted('x.block_time'),
})

/** A page of the logs of a subject. @param actions names of the actions that this kind of subject has. */
export async function selectLogs(
  session: Session,
  values: Values,
  subject: LogSubject,
  actions: readonly string[],
): Promise<LogRow[]> {
  const window = pageWindow(values)
  const wanted = chosenActions(actions, values)
  if (!window || wanted.length === 0) return []
  const bindings = new Bindings()
  const id = bindings.bind(subject.id, 'bigint')
  const sources = [logRows(id, subject, wanted, bindings)]
  if (wanted.includes(MINT)) sources.push(mintRows(id))
  const direction = directionOf(values)
  return session.query<LogRow & readonly SqlValue[]>({
    text: `SELECT ${MEMBERS}, y.name, e.data::text, e.packed
      FROM (SELECT * FROM (${sources.join(' UNION ALL ')}) u
          ORDER BY u.seq ${direction} LIMIT ${window.limit} OFFSET ${window.offset}) e
        JOIN assets.log_actions y USING (action) LEFT JOIN LATERAL assets.origin_of(e.seq) x ON true
      ORDER BY e.seq ${direction}`,
    values: bindings.values,
  })
}

/** The actions of an endpoint that a request keeps; names that it does not have are ignored. */
export function chosenActions(actions: readonly string[], values: Values): string[] {
  const white = values.texts('action_whitelist')
  const black = values.texts('action_blacklist')
  return actions.filter((name) => white?.includes(name) !== false && black?.includes(name) !== true)
}

function logRows(id: string, subject: LogSubject, actions: readonly string[], bindings: Bindings): string {
  // The ids of assets, offers and templates overlap: the actions tell them apart.
  const codes = `ARRAY(SELECT n.action FROM assets.log_actions n WHERE n.name = ANY(${bindings.bind(actions, 'text[]')}))`
  const conditions = [`l.subject = ${id}`, `l.action = ANY(${codes})`]
  let data = 'l.data'
  if (subject.schema !== undefined) {
    conditions.push(`l.data ->> 'schema_name' = ${bindings.bind(subject.schema, 'text')}`)
    data = `l.data - 'schema_name'`
  }
  if (subject.templateOf !== undefined) {
    const collection = bindings.bind(subject.templateOf, 'text')
    conditions.push(
      `EXISTS (SELECT FROM assets.templates t WHERE t.template_id = ${id} AND t.collection_name = ${collection})`,
    )
  }
  return `SELECT l.seq, l.action, ${data} AS data, l.packed FROM assets.logs l ${whereClause(conditions)}`
}

function mintRows(id: string): string {
  return `SELECT a.minted_seq, (SELECT n.action FROM assets.log_actions n WHERE n.name = '${MINT}'),
      jsonb_build_object('new_asset_owner', a.initial_receiver, 'authorized_minter', a.minter), NULL::bytea
    FROM assets.assets a WHERE a.asset_id = ${id} AND a.minted_seq IS NOT NULL`
}
