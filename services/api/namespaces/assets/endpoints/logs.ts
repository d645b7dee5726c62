import { nameToInt64 } from '../../../../core/antelope/index.ts'
import type { Endpoint, Parameter, Values } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { logActions, paging, sortOrder } from '../../parameter-groups/index.ts'
import type { LogSubject } from '../lists/index.ts'
import { selectLogs } from '../lists/index.ts'
import type { LoggedActions } from '../records/index.ts'
import {
  assetActions,
  collectionActions,
  logRecord,
  offerActions,
  renderLog,
  schemaActions,
  templateActions,
} from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'

/** The logs of one kind of subject. */
interface LogKind {
  readonly path: string
  readonly tag: string
  readonly of: string
  /** Name of the record. */
  readonly record: string
  readonly parameters: readonly Parameter[]
  readonly actions: LoggedActions
  /** Undefined for a subject that cannot exist: it has no logs. */
  readonly subject: (values: Values) => LogSubject | undefined
}

const collectionName: Parameter = {
  name: 'collection_name',
  in: 'path',
  type: 'string',
  description: 'Collection.',
}

const kinds: readonly LogKind[] = [
  {
    path: '/v1/assets/:asset_id/logs',
    tag: 'assets',
    of: 'an asset',
    record: 'AssetLog',
    parameters: [{ name: 'asset_id', in: 'path', type: 'id', description: 'Asset.' }],
    actions: assetActions,
    subject: (values) => ({ id: values.id('asset_id')! }),
  },
  {
    path: '/v1/collections/:collection_name/logs',
    tag: 'collections',
    of: 'a collection',
    record: 'CollectionLog',
    parameters: [collectionName],
    actions: collectionActions,
    subject: ofCollection,
  },
  {
    path: '/v1/schemas/:collection_name/:schema_name/logs',
    tag: 'schemas',
    of: 'a schema',
    record: 'SchemaLog',
    parameters: [collectionName, { name: 'schema_name', in: 'path', type: 'string', description: 'Schema.' }],
    actions: schemaActions,
    subject: (values) => {
      const collection = ofCollection(values)
      return collection && { ...collection, schema: values.text('schema_name')! }
    },
  },
  {
    path: '/v1/templates/:collection_name/:template_id/logs',
    tag: 'templates',
    of: 'a template',
    record: 'TemplateLog',
    parameters: [collectionName, { name: 'template_id', in: 'path', type: 'id', description: 'Template.' }],
    actions: templateActions,
    subject: (values) => ({
      id: values.id('template_id')!,
      templateOf: values.text('collection_name')!,
    }),
  },
  {
    path: '/v1/offers/:offer_id/logs',
    tag: 'offers',
    of: 'an offer',
    record: 'OfferLog',
    parameters: [{ name: 'offer_id', in: 'path', type: 'id', description: 'Offer.' }],
    actions: offerActions,
    subject: (values) => ({ id: values.id('offer_id')! }),
  },
]

/** The `/logs` of assets, collections, schemas, templates and offers. */
export function logEndpoints(setup: AssetsSetup): Endpoint[] {
  return kinds.map((kind) => ({
    path: kind.path,
    tag: kind.tag,
    summary: `What happened to ${kind.of}, by the actions that did it`,
    parameters: [...kind.parameters, ...paging(setup.limits.logs), sortOrder('asc'), ...logActions],
    record: shape.list(logRecord(kind.record, `An action on ${kind.of}`, kind.actions)),
    run: async ({ session, values }) => {
      const subject = kind.subject(values)
      if (!subject) return '[]'
      const rows = await selectLogs(setup.lists, session, values, subject, Object.keys(kind.actions))
      return `[${rows.map((row) => renderLog(...row)).join(',')}]`
    },
  }))
}

/** Names as the chain prints them: one with a dot at the end would be the number of another name. */
const CHAIN_NAME = /^(?:[.1-5a-z]{0,11}[1-5a-z]|[.1-5a-z]{12}[1-5a-j])$/

/** Logs know a collection by the number of its name. */
function ofCollection(values: Values): LogSubject | undefined {
  const name = values.text('collection_name')!
  return CHAIN_NAME.test(name) ? { id: nameToInt64(name) } : undefined
}
