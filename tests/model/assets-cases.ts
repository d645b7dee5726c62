import { encodeAttributes } from '../../services/core/antelope/attributes/index.ts'
import type { RowCase } from './row-case.ts'
import {
  block,
  collectionFormat,
  created,
  LARGE,
  schemaFormat,
  unknownCreation,
  unknownUpdate,
  updated,
} from './row-case.ts'

const packed = (format: typeof schemaFormat, values: Readonly<Record<string, unknown>>) =>
  Array.from(encodeAttributes(format, values))
const attribute = (key: string, type: string, value: unknown) => ({ key, value: [type, value] })

const template = {
  template_id: 31,
  max_supply: 500,
  transferable: true,
  burnable: false,
  collection_name: 'alicecollect',
  schema_name: 'heroes',
  immutable_data: '{"name":"Dragon"}',
  mutable_data: null,
}
const asset = {
  asset_id: 1099511627999n,
  template_id: 31,
  collection_name: 'alicecollect',
  schema_name: 'heroes',
  owner: 'owner1',
  ram_payer: 'payer1',
  burned_at_time: null,
  burned_at_block: null,
  burned_by_account: null,
  immutable_data: '{"name":"Goblin"}',
  mutable_data: `{"level":"${LARGE}"}`,
}
const offer = {
  offer_id: 41n,
  state: 0,
  sender: 'sender1',
  recipient: 'receiver1',
  ram_payer: 'payer2',
  memo: 'for you',
  sender_asset_ids: [1099511627776n, 1099511627777n],
  recipient_asset_ids: [1099511627778n],
  collection_names: [],
}

/** Cases for rows of the assets contract. */
export const assetsCases: readonly RowCase[] = [
  {
    family: 'assets',
    table: 'config',
    row: {
      asset_counter: '1099511628000',
      template_counter: 32,
      offer_counter: LARGE,
      collection_format: collectionFormat,
      supported_tokens: [
        { sym: '8,WAX', contract: 'eosio.token' },
        { sym: '4,KARMA', contract: 'karmatoken' },
      ],
    },
    handled: {
      'assets.config': [
        {
          contract: 'assets',
          standard: null,
          version: null,
          v2_since_block: null,
          asset_counter: 1099511628000n,
          template_counter: 32,
          offer_counter: BigInt(LARGE),
          collection_format: '[{"name":"title","type":"string"},{"name":"grade","type":"uint16"}]',
        },
      ],
      'assets.tokens': [
        { token_symbol: 'WAX', token_precision: 8, token_contract: 'eosio.token' },
        { token_symbol: 'KARMA', token_precision: 4, token_contract: 'karmatoken' },
      ],
    },
    verified: {
      key: ['assets'],
      values: {
        asset_counter: '1099511628000',
        template_counter: 32,
        offer_counter: LARGE,
        collection_format: collectionFormat,
        tokens: [
          { token_symbol: 'KARMA', token_precision: 4, token_contract: 'karmatoken' },
          { token_symbol: 'WAX', token_precision: 8, token_contract: 'eosio.token' },
        ],
      },
    },
  },
  {
    family: 'assets',
    table: 'tokenconfigs',
    row: { standard: 'atomicassets', version: '2.0.1' },
    handled: {
      'assets.config': [
        {
          contract: 'assets',
          standard: 'atomicassets',
          version: '2.0.1',
          v2_since_block: block.num,
          asset_counter: null,
          template_counter: null,
          offer_counter: null,
          collection_format: '[]',
        },
      ],
    },
    imported: {
      'assets.config': [
        {
          contract: 'assets',
          standard: 'atomicassets',
          version: '2.0.1',
          v2_since_block: 0,
          asset_counter: null,
          template_counter: null,
          offer_counter: null,
          collection_format: '[]',
        },
      ],
    },
    verified: { key: ['assets'], values: { standard: 'atomicassets', version: '2.0.1' } },
  },
  {
    family: 'assets',
    table: 'balances',
    scope: 'assets',
    row: { owner: 'owner1', quantities: ['1.00000000 WAX', '2.0000 KARMA'] },
    handled: {
      'assets.balances': [
        { owner: 'owner1', token_symbol: 'WAX', amount: 100000000n, ...updated },
        { owner: 'owner1', token_symbol: 'KARMA', amount: 20000n, ...updated },
      ],
    },
    imported: {
      'assets.balances': [
        { owner: 'owner1', token_symbol: 'WAX', amount: 100000000n, ...unknownUpdate },
        { owner: 'owner1', token_symbol: 'KARMA', amount: 20000n, ...unknownUpdate },
      ],
    },
    verified: {
      key: ['owner1'],
      values: {
        quantities: [
          { token_symbol: 'KARMA', amount: '20000' },
          { token_symbol: 'WAX', amount: '100000000' },
        ],
      },
    },
  },
  {
    family: 'assets',
    table: 'collections',
    row: {
      collection_name: 'alicecollect',
      author: 'author1',
      allow_notify: true,
      authorized_accounts: ['author1', 'helper1'],
      notify_accounts: ['notify1'],
      market_fee: 0.05,
      serialized_data: packed(collectionFormat, { title: 'Alice', grade: 3 }),
    },
    handled: {
      'assets.collections': [
        {
          collection_name: 'alicecollect',
          ...created,
          market_fee: 0.05,
          allow_notify: true,
          author: 'author1',
          authorized_accounts: ['author1', 'helper1'],
          notify_accounts: ['notify1'],
          data: '{"title":"Alice","grade":3}',
        },
      ],
    },
    imported: {
      'assets.collections': [
        {
          collection_name: 'alicecollect',
          ...unknownCreation,
          market_fee: 0.05,
          allow_notify: true,
          author: 'author1',
          authorized_accounts: ['author1', 'helper1'],
          notify_accounts: ['notify1'],
          data: '{"title":"Alice","grade":3}',
        },
      ],
    },
    verified: {
      key: ['alicecollect'],
      values: {
        author: 'author1',
        allow_notify: true,
        authorized_accounts: ['author1', 'helper1'],
        notify_accounts: ['notify1'],
        market_fee: 0.05,
        data: { title: 'Alice', grade: 3 },
      },
    },
  },
  {
    family: 'assets',
    table: 'authorswaps',
    row: {
      collection_name: 'alicecollect',
      current_author: 'author1',
      new_author: 'author2',
      acceptance_date: 1_800_000_000,
    },
    handled: {
      'assets.author_swaps': [
        {
          collection_name: 'alicecollect',
          acceptance_date: 1_800_000_000,
          current_author: 'author1',
          new_author: 'author2',
        },
      ],
    },
    verified: {
      key: ['alicecollect'],
      values: { current_author: 'author1', new_author: 'author2', acceptance_date: '1800000000' },
    },
  },
  {
    family: 'assets',
    table: 'schemas',
    scope: 'alicecollect',
    row: { schema_name: 'heroes', format: schemaFormat },
    handled: {
      'assets.schemas': [
        {
          collection_name: 'alicecollect',
          schema_name: 'heroes',
          ...created,
          format: '[{"name":"name","type":"string"},{"name":"level","type":"uint64"}]',
          types: null,
        },
      ],
    },
    imported: {
      'assets.schemas': [
        {
          collection_name: 'alicecollect',
          schema_name: 'heroes',
          ...unknownCreation,
          format: '[{"name":"name","type":"string"},{"name":"level","type":"uint64"}]',
          types: null,
        },
      ],
    },
    verified: { key: ['alicecollect', 'heroes'], values: { format: schemaFormat } },
  },
  {
    family: 'assets',
    table: 'schematypes',
    scope: 'alicecollect',
    row: { schema_name: 'heroes', format_type: [{ name: 'img', mediatype: 'image', info: 'front' }] },
    handled: {
      'assets.schemas': [
        {
          collection_name: 'alicecollect',
          schema_name: 'heroes',
          types: '[{"name":"img","mediatype":"image","info":"front"}]',
        },
      ],
    },
    verified: {
      key: ['alicecollect', 'heroes'],
      values: { types: [{ name: 'img', mediatype: 'image', info: 'front' }] },
    },
  },
  {
    family: 'assets',
    table: 'templates',
    scope: 'alicecollect',
    row: {
      template_id: 31,
      schema_name: 'heroes',
      transferable: true,
      burnable: false,
      max_supply: 500,
      issued_supply: 9,
      immutable_serialized_data: packed(schemaFormat, { name: 'Dragon' }),
    },
    actions: [
      [
        'lognewtempl',
        {
          template_id: 31,
          authorized_creator: 'creator1',
          collection_name: 'alicecollect',
          schema_name: 'heroes',
          transferable: true,
          burnable: false,
          max_supply: 500,
          immutable_data: [attribute('name', 'string', 'Dragon')],
        },
      ],
    ],
    handled: {
      'assets.templates': [
        { ...template, ...created, issued_supply: 9, deleted_at_time: null, deleted_at_block: null },
      ],
    },
    imported: {
      'assets.templates': [
        { ...template, ...unknownCreation, issued_supply: 9, deleted_at_time: null, deleted_at_block: null },
      ],
    },
    verified: {
      key: ['31'],
      values: {
        collection_name: 'alicecollect',
        schema_name: 'heroes',
        transferable: true,
        burnable: false,
        max_supply: '500',
        issued_supply: '9',
        immutable_data: { name: 'Dragon' },
      },
    },
  },
  {
    family: 'assets',
    table: 'templates2',
    scope: 'alicecollect',
    row: {
      template_id: 31,
      schema_name: 'heroes',
      mutable_serialized_data: packed(schemaFormat, { level: LARGE }),
    },
    actions: [
      [
        'logsetdatatl',
        {
          collection_name: 'alicecollect',
          schema_name: 'heroes',
          template_id: 31,
          old_data: [],
          new_data: [attribute('level', 'uint64', LARGE)],
        },
      ],
    ],
    handled: { 'assets.templates': [{ template_id: 31, mutable_data: `{"level":"${LARGE}"}` }] },
    imported: { 'assets.templates': [{ template_id: 31, mutable_data: `{"level":"${LARGE}"}` }] },
    verified: {
      key: ['31'],
      values: { collection_name: 'alicecollect', schema_name: 'heroes', mutable_data: { level: LARGE } },
    },
  },
  {
    family: 'assets',
    table: 'assets',
    scope: 'owner1',
    primary: 1099511627999n,
    row: {
      asset_id: '1099511627999',
      collection_name: 'alicecollect',
      schema_name: 'heroes',
      template_id: 31,
      ram_payer: 'payer1',
      backed_tokens: ['3.00000000 WAX'],
      immutable_serialized_data: packed(schemaFormat, { name: 'Goblin' }),
      mutable_serialized_data: packed(schemaFormat, { level: LARGE }),
    },
    actions: [
      [
        'logmint',
        {
          asset_id: '1099511627999',
          authorized_minter: 'minter1',
          collection_name: 'alicecollect',
          schema_name: 'heroes',
          template_id: 31,
          new_asset_owner: 'owner1',
          immutable_data: [attribute('name', 'string', 'Goblin')],
          mutable_data: [attribute('level', 'uint64', LARGE)],
          backed_tokens: ['3.00000000 WAX'],
          immutable_template_data: [attribute('name', 'string', 'Dragon')],
        },
      ],
      ['logbackasset', { asset_owner: 'owner1', asset_id: '1099511627999', backed_token: '3.00000000 WAX' }],
    ],
    handled: {
      'assets.assets': [
        {
          ...asset,
          minted_at_time: block.timeMs,
          transferred_at_time: block.timeMs,
          minted_seq: 1n,
          minted_at_block: block.num,
          transferred_at_block: block.num,
          ...updated,
          template_mint: null,
          minter: 'minter1',
          initial_receiver: 'owner1',
        },
      ],
      'assets.backed_tokens': [{ asset_id: 1099511627999n, token_symbol: 'WAX', amount: 300000000n }],
    },
    imported: {
      'assets.assets': [
        {
          ...asset,
          minted_at_time: 0,
          transferred_at_time: 0,
          minted_seq: null,
          minted_at_block: 0,
          transferred_at_block: 0,
          ...unknownUpdate,
          template_mint: null,
          minter: null,
          initial_receiver: null,
        },
      ],
      'assets.backed_tokens': [{ asset_id: 1099511627999n, token_symbol: 'WAX', amount: 300000000n }],
    },
    verified: {
      key: ['1099511627999'],
      values: {
        owner: 'owner1',
        collection_name: 'alicecollect',
        schema_name: 'heroes',
        template_id: 31,
        ram_payer: 'payer1',
        immutable_data: { name: 'Goblin' },
        mutable_data: { level: LARGE },
        backed_tokens: [{ token_symbol: 'WAX', amount: '300000000' }],
      },
    },
  },
  {
    family: 'assets',
    table: 'offers',
    row: {
      offer_id: 41,
      sender: 'sender1',
      recipient: 'receiver1',
      sender_asset_ids: ['1099511627776', '1099511627777'],
      recipient_asset_ids: ['1099511627778'],
      memo: 'for you',
      ram_payer: 'payer2',
    },
    actions: [
      [
        'lognewoffer',
        {
          offer_id: 41,
          sender: 'sender1',
          recipient: 'receiver1',
          sender_asset_ids: ['1099511627776', '1099511627777'],
          recipient_asset_ids: ['1099511627778'],
          memo: 'for you',
        },
      ],
    ],
    handled: { 'assets.offers': [{ ...offer, ...created, ...updated }] },
    imported: { 'assets.offers': [{ ...offer, ...unknownCreation, ...unknownUpdate }] },
    verified: {
      key: ['41'],
      values: {
        sender: 'sender1',
        recipient: 'receiver1',
        sender_asset_ids: ['1099511627776', '1099511627777'],
        recipient_asset_ids: ['1099511627778'],
        memo: 'for you',
        ram_payer: 'payer2',
      },
    },
  },
]
