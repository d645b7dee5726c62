import { id, inPath } from '../../../../core/parameters/index.ts'
import type { Endpoint, EndpointContext } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { assetListParameters } from '../../nft/parameters/index.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'
import { assetList, countAssets } from '../../nft/asset-lists/index.ts'
import { countFromCounters } from '../aggregates/asset-counters.ts'
import type { AssetsSetup } from '../setup.ts'
import { countEndpointOf, listJson, oneJson } from '../../nft/endpoints/index.ts'

const notFound = { status: 416, message: 'Asset not found' } as const

/** Endpoints of assets: list, count, and one asset. */
export function assetEndpoints(setup: AssetsSetup): Endpoint[] {
  const count = async (context: EndpointContext<AssetValues>): Promise<string> => {
    const { session, values, attributes } = context
    const counted = await countFromCounters(session, values, attributes, setup.trigrams)
    return `"${counted ?? (await countAssets(setup.lists, setup.trigrams, context))}"`
  }
  const list = endpoint({
    path: '/v1/assets',
    tag: 'assets',
    summary: 'Assets',
    parameters: assetListParameters(setup.limits.assets),
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(setup.records.asset.schema),
    run: async (context) => {
      if (context.values.count === true) return count(context)
      const { list } = await assetList(setup.lists, setup.trigrams, context)
      return listJson({ lists: setup.lists, kind: setup.records.asset }, context, list)
    },
  })
  const one = endpoint({
    path: '/v1/assets/:asset_id',
    tag: 'assets',
    summary: 'One asset',
    parameters: { asset_id: inPath(id('Id of the asset.')) },
    record: setup.records.asset.schema,
    failures: [notFound],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values.asset_id), setup.records.asset, notFound),
  })
  return [list, countEndpointOf(list, count), one]
}
