import { raw, sql } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { ListReader } from '../../../planner/index.ts'
import { chosenActions, logList } from '../../nft/logs/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { LinkLogValues } from '../parameters.ts'
import { linkLogRecord } from '../records/link-schemas.ts'

const logs = { from: raw('tools.logs l'), table: 'tools.logs', actions: raw('tools.log_actions') }

/**
 * One page of the log of a link. The path of the request has the id of the link.
 * @param actions names of all logged actions.
 */
export async function selectLinkLogs(
  reader: ListReader,
  { session, values }: EndpointContext<LinkLogValues>,
  actions: readonly string[],
): Promise<Json> {
  const window = pageWindow(values)
  const wanted = chosenActions(actions, values)
  if (wanted.length === 0) return '[]'
  const list = logList(logs, { id: values.link_id, actions: wanted }, values)
  const [{ condition }] = list.filters as [(typeof list.filters)[number]]
  const plan = reader.plan(list, window)
  if (!plan) return '[]'
  const { keys, reason } = plan
  const statement = sql`SELECT ${raw(linkLogRecord.packed)} FROM (${keys}) p
        JOIN tools.logs l ON ${condition} AND l.seq = p.k JOIN tools.log_actions n USING (action)
        LEFT JOIN tools.links k ON k.link_id = l.subject LEFT JOIN LATERAL tools.origin_of(p.k) x ON true
      ORDER BY p.n`
  const rows = await session.query<[string]>({ ...statement.render(), reason })
  return jsonArray(rows.flatMap(([row]) => linkLogRecord.read(row)))
}
