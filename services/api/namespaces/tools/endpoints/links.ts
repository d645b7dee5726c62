import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { countEndpointOf, oneJson, runCount, runList } from '../../nft/endpoints/index.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countLinksFromCounters, linkList } from '../lists/link-list.ts'
import { selectLinkLogs } from '../lists/log-list.ts'
import { linkActions, linkLogRecord } from '../records/link-schemas.ts'
import { linkLogParameters, linkParameters, ofLink } from '../parameters.ts'
import type { LinkValues } from '../parameters.ts'
import type { ToolsSetup } from '../setup.ts'

const notFound = { status: 416, message: 'Link not found' } as const

/** Endpoints of links: list, count, one link, and the log of one link. */
export function linkEndpoints(setup: ToolsSetup): Endpoint[] {
  const records: ListOfRecords<LinkValues> = {
    lists: setup.lists,
    list: ({ session, values }) => linkList(setup.lists, session, values),
    kind: setup.links,
    counted: ({ session, values }) => countLinksFromCounters(session, values),
  }
  const list = endpoint({
    path: '/v1/links',
    tag: 'links',
    summary: 'Links',
    parameters: linkParameters(setup.limits.links),
    record: shape.list(setup.links.schema),
    run: runList(records),
  })
  const one = endpoint({
    path: '/v1/links/:link_id',
    tag: 'links',
    summary: 'One link',
    parameters: ofLink,
    record: setup.links.schema,
    failures: [notFound],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values.link_id), setup.links, notFound),
  })
  const logs = endpoint({
    path: '/v1/links/:link_id/logs',
    tag: 'links',
    summary: 'Log of the actions that concern a link',
    parameters: linkLogParameters(setup.limits.logs),
    record: shape.list(linkLogRecord.schema),
    run: (context) => selectLinkLogs(setup.lists, context, Object.keys(linkActions)),
  })
  return [list, countEndpointOf(list, runCount(records)), one, logs]
}
