import { addressOf, ofAsset } from './kind.ts'
import type { Query, TrafficKind } from './kind.ts'
import type { OfferRow, TransferRow } from './rows.ts'

const V1 = '/assets/v1'
const assets = (query: Query): string => addressOf(`${V1}/assets`, query)
const counted = (query: Query): string => addressOf(`${V1}/assets/_count`, query)
const transfers = (query: Query): string => addressOf(`${V1}/transfers`, query)
const offers = (query: Query): string => addressOf(`${V1}/offers`, query)
const newest = { order: 'desc', limit: 100 } as const
const first = { order: 'asc', limit: 100 } as const

function ofTransfer(name: string, address: (transfer: TransferRow) => string): TrafficKind {
  return { name, address: async (rows) => address(await rows.transfer()) }
}

function ofOffer(name: string, states: readonly number[], address: (offer: OfferRow) => string): TrafficKind {
  return { name, address: async (rows) => address(await rows.offer(states)) }
}

const inventories: readonly TrafficKind[] = [
  ofAsset('inventory, last moved first', 'owned', ({ owner }) =>
    assets({ owner, sort: 'transferred', ...newest }),
  ),
  ofAsset(
    'inventory of a big owner in a collection, last moved first',
    'owned',
    ({ collection }, rows, index) =>
      assets({ owner: rows.bigOwner(index), collection_name: collection, sort: 'transferred', ...newest }),
  ),
  ofAsset(
    'inventory of a big owner in a schema, by name',
    'templated',
    ({ collection, schema }, rows, index) =>
      assets({
        owner: rows.bigOwner(index),
        collection_name: collection,
        schema_name: schema,
        sort: 'name',
        ...first,
      }),
  ),
  ofAsset('owner, collection, level', 'leveled', ({ owner, collection, level }) =>
    assets({ owner, collection_name: collection, 'mutable_data:number.level': level, limit: 100 }),
  ),
  ofAsset('owner, template, by mint', 'templated', ({ owner, template }) =>
    assets({ owner, template_id: template, sort: 'template_mint', ...first }),
  ),
  ofAsset('owner, collection, rarity', 'templated', ({ owner, collection, rarity }) =>
    assets({ owner, collection_name: collection, 'data.rarity': rarity, ...newest }),
  ),
  ofAsset('owner, collection, not in offers', 'owned', ({ owner, collection }) =>
    assets({ owner, collection_name: collection, hide_offers: true, ...newest }),
  ),
  ofAsset(
    'inventory of a big owner in a collection, duplicate templates only',
    'templated',
    ({ collection }, rows, index) =>
      assets({
        owner: rows.bigOwner(index),
        collection_name: collection,
        only_duplicate_templates: true,
        limit: 100,
      }),
  ),
  ofAsset('owner, changed since', 'owned', ({ owner, updated }) =>
    assets({ owner, sort: 'updated', after: updated, ...first }),
  ),
]

const collectionsAssets: readonly TrafficKind[] = [
  ofAsset('collection, schema, last changed', 'any', ({ collection, schema }) =>
    assets({ collection_name: collection, schema_name: schema, sort: 'updated', ...newest }),
  ),
  ofAsset('collection, schema, rarity, last moved', 'templated', ({ collection, schema, rarity }) =>
    assets({
      collection_name: collection,
      schema_name: schema,
      'template_data.rarity': rarity,
      sort: 'transferred',
      ...newest,
    }),
  ),
  ofAsset('assets of a collection found by a word, by name', 'named', ({ collection, word }) =>
    assets({ collection_name: collection, search: word, sort: 'name', ...first }),
  ),
  ofAsset('schema, level, by mint', 'leveled', ({ collection, schema, level }) =>
    assets({
      collection_name: collection,
      schema_name: schema,
      'mutable_data:number.level': level,
      sort: 'template_mint',
      ...newest,
    }),
  ),
  ofAsset('collection, experience', 'leveled', ({ collection, xp }) =>
    assets({ collection_name: collection, 'mutable_data:number.xp': xp, limit: 100 }),
  ),
  ofAsset('schema, status, rarity, last changed', 'leveled', ({ collection, schema, level, rarity }) =>
    assets({
      collection_name: collection,
      schema_name: schema,
      'mutable_data.status': Number(level) > 2 ? 'veteran' : 'fresh',
      ...(rarity === '' ? {} : { 'template_data.rarity': rarity }),
      sort: 'updated',
      ...newest,
    }),
  ),
  ofAsset('collection, serial number', 'serial', ({ collection, serial }) =>
    assets({ collection_name: collection, 'immutable_data.serial': serial, limit: 100 }),
  ),
  ofAsset('schema, power, by mint', 'templated', ({ collection, schema, power }) =>
    assets({
      collection_name: collection,
      schema_name: schema,
      'data:number.power': power,
      sort: 'template_mint',
      ...first,
    }),
  ),
  ofAsset('sync: collection changed since, 1,000', 'any', ({ collection, updated }) =>
    assets({ collection_name: collection, sort: 'updated', order: 'asc', after: updated, limit: 1_000 }),
  ),
  ofAsset('template, live, last moved', 'templated', ({ template }) =>
    assets({ template_id: template, burned: false, sort: 'transferred', ...newest }),
  ),
  ofAsset('template, range of mints', 'templated', ({ template, mint }) =>
    assets({
      template_id: template,
      min_template_mint: mint,
      max_template_mint: mint + 50,
      sort: 'template_mint',
      ...first,
    }),
  ),
  ofAsset('minter, collection, schema, newest', 'any', ({ minter, collection, schema }) =>
    assets({ minter, collection_name: collection, schema_name: schema, ...newest }),
  ),
  ofAsset('first owner, collection, newest', 'any', ({ receiver, collection }) =>
    assets({ initial_receiver: receiver, collection_name: collection, ...newest }),
  ),
  ofAsset('five collections, newest', 'any', ({ collection }, rows) =>
    assets({
      collection_whitelist: [collection, ...rows.someCollections(4)].join(','),
      burned: false,
      sort: 'minted',
      ...newest,
    }),
  ),
  ofAsset('burned assets of a schema, last changed first', 'burned', ({ collection, schema }) =>
    assets({
      collection_name: collection,
      schema_name: schema,
      burned: true,
      sort: 'updated',
      ...newest,
    }),
  ),
  ofAsset(
    'assets of a schema, only of templates that an account lacks',
    'templated',
    ({ collection, schema, owner }) =>
      assets({
        collection_name: collection,
        schema_name: schema,
        hide_templates_by_accounts: owner,
        limit: 100,
      }),
  ),
  {
    name: 'fifty assets by id',
    address: async (rows) => {
      const { asset } = await rows.asset('any')
      return assets({ ids: (await rows.assetsFrom(asset, 50)).join(','), limit: 100 })
    },
  },
]

const counts: readonly TrafficKind[] = [
  ofAsset('count: owner, collection', 'owned', ({ owner, collection }) =>
    counted({ owner, collection_name: collection }),
  ),
  ofAsset('count: owner, template', 'templated', ({ owner, template }) =>
    counted({ owner, template_id: template }),
  ),
  ofAsset('count: collection, level', 'leveled', ({ collection, level }) =>
    counted({ collection_name: collection, 'mutable_data:number.level': level }),
  ),
  ofAsset('count: schema, rarity, live', 'templated', ({ collection, schema, rarity }) =>
    counted({
      collection_name: collection,
      schema_name: schema,
      'template_data.rarity': rarity,
      burned: false,
    }),
  ),
]

const accounts: readonly TrafficKind[] = [
  ofAsset('holders of a template', 'templated', ({ template }) =>
    addressOf(`${V1}/accounts`, { template_id: template, limit: 100 }),
  ),
  ofAsset('holders of a schema', 'owned', ({ collection, schema }) =>
    addressOf(`${V1}/accounts`, { collection_name: collection, schema_name: schema, limit: 100 }),
  ),
  ofAsset('holders of a collection, rarity', 'templated', ({ collection, rarity }) =>
    addressOf(`${V1}/accounts`, {
      collection_name: collection,
      'template_data.rarity': rarity,
      limit: 100,
    }),
  ),
  ofAsset('assets of an account, counted by collection', 'owned', ({ owner }) => `${V1}/accounts/${owner}`),
  ofAsset('accounts that burned assets of a schema', 'burned', ({ collection, schema }) =>
    addressOf(`${V1}/burns`, { collection_name: collection, schema_name: schema, limit: 100 }),
  ),
]

const catalogue: readonly TrafficKind[] = [
  ofAsset('templates of a schema by rarity', 'templated', ({ collection, schema, rarity }) =>
    addressOf(`${V1}/templates`, {
      collection_name: collection,
      schema_name: schema,
      'data.rarity': rarity,
      has_assets: true,
      limit: 100,
    }),
  ),
  ofAsset('templates of a collection found by a word, by name', 'named', ({ collection, word }) =>
    addressOf(`${V1}/templates`, { collection_name: collection, search: word, sort: 'name', ...first }),
  ),
  ofAsset('schemas of a collection, by number of assets', 'any', ({ collection }) =>
    addressOf(`${V1}/schemas`, { collection_name: collection, sort: 'assets', ...newest }),
  ),
  ofAsset('collections of an author', 'any', ({ minter }) =>
    addressOf(`${V1}/collections`, { authorized_account: minter, sort: 'created', ...newest }),
  ),
]

const movements: readonly TrafficKind[] = [
  ofTransfer('transfers between two accounts', ({ sender, recipient }) =>
    transfers({ sender, recipient, limit: 100 }),
  ),
  ofTransfer('transfers of an account in a collection', ({ sender, collection }) =>
    transfers({ account: sender, collection_name: collection, ...newest }),
  ),
  ofTransfer('transfers of an account, without transfers from or to contracts', ({ recipient }) =>
    transfers({ account: recipient, hide_contracts: true, ...newest }),
  ),
  ofTransfer('transfers of a collection since', ({ collection, time }) =>
    transfers({ collection_name: collection, after: time, ...first }),
  ),
  ofAsset('transfers of an asset', 'any', ({ asset }) => transfers({ asset_id: asset })),
  ofAsset('transfers of a template', 'templated', ({ template, collection }) =>
    transfers({ template_id: template, collection_name: collection, ...newest }),
  ),
  ofAsset('transfers of a schema since', 'any', ({ collection, schema, transferred }) =>
    transfers({ collection_name: collection, schema_name: schema, after: transferred, ...first }),
  ),
  ofOffer('open offers of an account', [0], ({ sender }) =>
    offers({ account: sender, state: 0, limit: 100 }),
  ),
  ofOffer('offers received, of a collection', [0, 3, 5], ({ recipient, collection }) =>
    offers({ recipient, collection_name: collection, sort: 'updated', ...newest }),
  ),
  ofOffer('open offers of an asset', [0], ({ asset }) => offers({ asset_id: asset, state: '0,1' })),
  ofAsset('logs of an asset', 'any', ({ asset }) => `${V1}/assets/${asset}/logs`),
  ofAsset('logs of one action in a collection', 'any', ({ collection }) =>
    addressOf(`${V1}/collections/${collection}/logs`, { action_whitelist: 'setmarketfee', ...newest }),
  ),
  ofAsset('one asset', 'any', ({ asset }) => `${V1}/assets/${asset}`),
]

/** Traffic of the assets namespace. */
export const assetsKinds: readonly TrafficKind[] = [
  ...inventories,
  ...collectionsAssets,
  ...counts,
  ...accounts,
  ...catalogue,
  ...movements,
]
