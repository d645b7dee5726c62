import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { countTwin, oneJson, runCount, runList } from '../../assets/index.ts'
import type { ListOfRecords } from '../../assets/index.ts'
import {
  boundaries,
  counting,
  greyLists,
  logActions,
  paging,
  sorting,
  sortOrder,
} from '../../parameter-groups/index.ts'
import { countLinksFromCounters, linkList, selectLinkLogs } from '../lists/index.ts'
import { linkActions, linkLogRecord, linkRecord } from '../records/index.ts'
import type { ToolsSetup } from '../setup.ts'

const NOT_FOUND = { status: 416, message: 'Link not found' } as const

const ownParameters: readonly Parameter[] = [
  { name: 'creator', type: 'name', list: 'named', description: 'Account that announced it is one of these.' },
  { name: 'claimer', type: 'name', list: 'named', description: 'Account that claimed it is one of these.' },
  {
    name: 'public_key',
    type: 'string',
    minimum: 1,
    maximum: 1000,
    description:
      'Key: PUB_K1_..., PUB_R1_..., PUB_WA_..., or the older text of a K1 key that begins with EOS.',
  },
  {
    name: 'state',
    type: 'id',
    list: 'comma',
    description: '0 waiting, 1 created, 2 cancelled, 3 claimed; several by comma.',
  },
  { name: 'asset_id', type: 'id', list: 'named', description: 'Has one of these assets.' },
  ...greyLists.filter(({ name }) => name !== 'account_blacklist'),
]

const linkId: Parameter = { name: 'link_id', in: 'path', type: 'id', description: 'Link.' }

/** `/v1/links`, its count, one link, and its log. */
export function linkEndpoints(setup: ToolsSetup): Endpoint[] {
  const records: ListOfRecords = {
    lists: setup.lists,
    list: ({ session, values }) => linkList(setup.lists, session, values),
    kind: setup.links,
    counted: ({ session, values }) => countLinksFromCounters(session, values),
  }
  const list: Endpoint = {
    path: '/v1/links',
    tag: 'links',
    summary: 'Links',
    parameters: [
      ...paging(setup.limits.links),
      ...sorting(['created', 'updated']),
      counting,
      ...ownParameters,
      ...boundaries({ name: 'link_id', type: 'id' }),
    ],
    record: shape.list(linkRecord),
    run: runList(records),
  }
  const one: Endpoint = {
    path: '/v1/links/:link_id',
    tag: 'links',
    summary: 'One link',
    parameters: [linkId],
    record: linkRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values.id('link_id')), setup.links, NOT_FOUND),
  }
  const logs: Endpoint = {
    path: '/v1/links/:link_id/logs',
    tag: 'links',
    summary: 'What happened to a link, by the actions that did it',
    parameters: [linkId, ...paging(setup.limits.logs), sortOrder('asc'), ...logActions],
    record: shape.list(linkLogRecord),
    run: (context) => selectLinkLogs(setup.lists, context, Object.keys(linkActions)),
  }
  return [list, countTwin(list, runCount(records)), one, logs]
}
