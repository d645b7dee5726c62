import { Bindings } from '../../../database/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { chosenActions, jsonMembers, jsonText, quoted } from '../../assets/index.ts'
import { directionOf, pageWindow } from '../../paging/index.ts'

const RECORD = jsonMembers({
  log_id: quoted('e.seq'),
  name: jsonText('e.name'),
  data: `CASE WHEN e.name = 'claimlink' THEN concat('{"claimer_signature":', ${jsonText('l.claimer_signature')}, '}')
    ELSE '{}' END`,
  txid: quoted(`encode(x.txid, 'hex')`),
  created_at_block: quoted('x.block_num'),
  created_at_time: quoted('x.block_time'),
})

/** A page of the logs of the link in the path as JSON text. @param actions names of the actions that there are. */
export async function selectLinkLogs(
  { session, values }: EndpointContext,
  actions: readonly string[],
): Promise<string> {
  const window = pageWindow(values)
  const wanted = chosenActions(actions, values)
  if (!window || wanted.length === 0) return '[]'
  const bindings = new Bindings()
  const direction = directionOf(values)
  const rows = await session.query<[string]>({
    text: `SELECT '{' || ${RECORD} || '}'
      FROM (SELECT g.seq, g.subject, n.name FROM tools.logs g JOIN tools.log_actions n USING (action)
          WHERE g.subject = ${bindings.bind(values.id('link_id')!, 'bigint')}
            AND n.name = ANY(${bindings.bind(wanted, 'text[]')})
          ORDER BY g.seq ${direction} LIMIT ${window.limit} OFFSET ${window.offset}) e
        LEFT JOIN tools.links l ON l.link_id = e.subject
        LEFT JOIN LATERAL tools.origin_of(e.seq) x ON true
      ORDER BY e.seq ${direction}`,
    values: bindings.values,
  })
  return `[${rows.map(([text]) => text).join(',')}]`
}
