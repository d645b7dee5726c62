import { id, inPath } from '../../../../core/parameters/index.ts'
import type { Parameters, Values } from '../../../../core/endpoint/index.ts'
import { nameToInt64 } from '../../../../core/antelope/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { logParameters } from '../../nft/logs/index.ts'
import type { LogValues, LoggedActions } from '../../nft/logs/index.ts'
import type { LogSubject } from '../lists/log-list.ts'
import { assetsLog, selectLogs } from '../lists/log-list.ts'
import {
  assetActions,
  collectionActions,
  offerActions,
  schemaActions,
  templateActions,
} from '../records/log-schemas.ts'
import { ofCollection } from '../../nft/parameters/index.ts'
import { ofSchema, ofTemplate } from '../parameters.ts'
import type { AssetsSetup } from '../setup.ts'

/** Endpoints `/logs` of assets, collections, schemas, templates and offers. */
export function logEndpoints(setup: AssetsSetup): Endpoint[] {
  const reading = { lists: setup.lists, maxBytes: setup.shared.maxBytes }
  /** @param subject selects the log; undefined for a name that cannot exist on chain: the answer is an empty list. */
  function logs<P extends Parameters>(
    [path, tag, of, title]: readonly [path: string, tag: string, of: string, title: string],
    actions: LoggedActions,
    parameters: P,
    subject: (values: Values<P>) => LogSubject | undefined,
  ): Endpoint {
    const log = assetsLog(title, of, actions)
    return endpoint({
      path: `${path}/logs`,
      tag,
      summary: `Log of the actions that concern ${of}`,
      parameters: { ...parameters, ...logParameters(setup.limits.logs) },
      record: shape.list(log.schema),
      run: async ({ session, values }) => {
        const found = subject(values as unknown as Values<P>)
        if (!found) return '[]'
        const page = { session, values: values as unknown as LogValues }
        return `[${(await selectLogs(reading, page, found, log)).join(',')}]`
      },
    })
  }
  return [
    logs(
      ['/v1/assets/:asset_id', 'assets', 'an asset', 'AssetLog'],
      assetActions,
      { asset_id: inPath(id('Id of the asset.')) },
      ({ asset_id }) => ({ id: asset_id }),
    ),
    logs(
      ['/v1/collections/:collection_name', 'collections', 'a collection', 'CollectionLog'],
      collectionActions,
      ofCollection,
      ({ collection_name }) => subjectOf(collection_name),
    ),
    logs(
      ['/v1/schemas/:collection_name/:schema_name', 'schemas', 'a schema', 'SchemaLog'],
      schemaActions,
      ofSchema,
      ({ collection_name, schema_name: schema }) => {
        const collection = subjectOf(collection_name)
        return collection && { ...collection, schema }
      },
    ),
    logs(
      ['/v1/templates/:collection_name/:template_id', 'templates', 'a template', 'TemplateLog'],
      templateActions,
      { ...ofCollection, ...ofTemplate },
      ({ template_id, collection_name }) => ({ id: template_id, templateOf: collection_name }),
    ),
    logs(
      ['/v1/offers/:offer_id', 'offers', 'an offer', 'OfferLog'],
      offerActions,
      { offer_id: inPath(id('Id of the offer.')) },
      ({ offer_id }) => ({ id: offer_id }),
    ),
  ]
}

/**
 * A name as the chain prints it. A trailing dot is not accepted: it would encode to the number of the name without the
 * dot.
 */
const CHAIN_NAME = /^(?:[.1-5a-z]{0,11}[1-5a-z]|[.1-5a-z]{12}[1-5a-j])$/

/**
 * Selects the log of a collection. Log entries store the name of the collection as a 64-bit number. Undefined if the
 * name cannot exist on chain.
 */
function subjectOf(name: string): LogSubject | undefined {
  return CHAIN_NAME.test(name) ? { id: nameToInt64(name) } : undefined
}
