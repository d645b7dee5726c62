import { createHash } from 'node:crypto'
import { encodeAttributeMap } from '../../services/core/antelope/attributes/index.ts'
import type { ActionInput, Devchain } from '../../services/devchain/index.ts'

const ASSETS = 'atomicassets'
const MARKET = 'atomicmarket'
/** Account of the attacker; also the name of its collection. */
export const ATTACKER = 'mallory12345'
const VICTIM = 'victim123451'
const SCHEMA = 'odd'

/** Misleading or malicious texts that the attacker uses as names and memos. */
const oddTexts: readonly string[] = [
  '',
  ' ',
  '\u0000NUL',
  '\u202Ereversed\u202C',
  '\u200B\u200D\uFEFF',
  '<script>alert(1)</script>',
  `'; DROP TABLE assets.assets; --`,
  '"}],"owner":"nobody',
  '\\u0000\\',
  '\u{1F600}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}',
  '\u001B[31mred\u001B[0m',
  '%s %d ${HOME} $(id) `id`',
  '\r\nX-Injected: 1\r\n',
  'a\u0301'.repeat(200),
  'ﷺ'.repeat(100),
  '__proto__',
  'NaN',
]

/** Attribute values at the limits of each numeric type. */
const edges: Readonly<Record<string, readonly unknown[]>> = {
  uint64: [0n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n],
  int64: [-(2n ** 63n), -1n, 2n ** 63n - 1n],
  fixed64: [2n ** 64n - 1n],
  uint8: [0, 255],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  float: [0, -0, 3.4e38, 1e-45],
  double: [0, -0, Number.MAX_VALUE, 5e-324, NaN, Infinity, -Infinity],
  bool: [0, 1],
}

const format = [
  { name: 'name', type: 'string' },
  { name: 'img', type: 'image' },
  { name: '__proto__', type: 'string' },
  { name: '"; --', type: 'string' },
  { name: '', type: 'string' },
  { name: 'list', type: 'string[]' },
  ...Object.keys(edges).map((type) => ({ name: type, type })),
]

/** Incompressible text. */
function noise(seed: number, bytes: number): string {
  let text = ''
  for (let part = 0; text.length < bytes; part++)
    text += createHash('sha256').update(`${seed}:${part}`).digest('base64')
  return text.slice(0, bytes)
}

const attributes = (values: Readonly<Record<string, unknown>>) => encodeAttributeMap(format, values)

/** An attacker on the chain, who creates rows as large and odd as the contracts allow. */
export class Attacker {
  readonly #chain: Devchain

  constructor(chain: Devchain) {
    this.#chain = chain
  }

  /**
   * Creates the collection, its schema and its templates. One template has `largeBytes` of data, and each odd text gets
   * a template of its own.
   */
  create(largeBytes: number): void {
    this.#produce([
      [
        this.#assets('createcol', {
          author: ATTACKER,
          collection_name: ATTACKER,
          allow_notify: true,
          authorized_accounts: [ATTACKER],
          notify_accounts: [],
          market_fee: 0.15,
          data: [],
        }),
        this.#assets('createschema', {
          authorized_creator: ATTACKER,
          collection_name: ATTACKER,
          schema_name: SCHEMA,
          schema_format: format,
        }),
      ],
    ])
    this.#produce([
      [this.#template({ name: 'Large', img: noise(1, largeBytes) })],
      ...oddTexts.map((text) => [
        this.#template({ name: text, '"; --': text, ['__proto__']: text, '': text, list: [text, text] }),
      ]),
    ])
  }

  /** Mints assets of a template, several per transaction, with extreme numbers as their own attributes. */
  mint(template: number, count: number): void {
    const edge = (type: string, at: number): unknown => edges[type]![at % edges[type]!.length]
    const actions = Array.from({ length: count }, (_, at) =>
      this.#assets('mintasset', {
        authorized_minter: ATTACKER,
        collection_name: ATTACKER,
        schema_name: SCHEMA,
        template_id: template,
        new_asset_owner: ATTACKER,
        immutable_data: attributes(
          Object.fromEntries(Object.keys(edges).map((type) => [type, edge(type, at)])),
        ),
        mutable_data: attributes({ name: oddTexts[at % oddTexts.length] }),
        tokens_to_back: [],
      }),
    )
    for (let at = 0; at < actions.length; at += 50) this.#produce([actions.slice(at, at + 50)])
  }

  /** Creates offers of all assets, sales and auctions of some, and transfers all assets to the victim and back. */
  list(ids: readonly bigint[], offers: number): void {
    const memo = (at: number): string => oddTexts[at % oddTexts.length]!
    this.#produce(
      Array.from({ length: offers }, (_, at) => [
        this.#assets('createoffer', {
          sender: ATTACKER,
          recipient: VICTIM,
          sender_asset_ids: ids,
          recipient_asset_ids: [],
          memo: memo(at),
        }),
      ]),
    )
    this.#produce(
      ids.slice(0, 20).map((id, at) => [
        this.#market('announcesale', {
          seller: ATTACKER,
          asset_ids: [id],
          listing_price: at === 0 ? '46116860184.27387903 WAX' : '0.00000001 WAX',
          settlement_symbol: '8,WAX',
          maker_marketplace: '',
        }),
        this.#assets('createoffer', {
          sender: ATTACKER,
          recipient: MARKET,
          sender_asset_ids: [id],
          recipient_asset_ids: [],
          memo: 'sale',
        }),
      ]),
    )
    this.#produce([[this.#transfer(ATTACKER, VICTIM, ids, memo(3))]])
    this.#produce([[this.#transfer(VICTIM, ATTACKER, ids, memo(5))]])
    this.#produce(
      ids.slice(20, 40).map((id) => [
        this.#market('announceauct', {
          seller: ATTACKER,
          asset_ids: [id],
          starting_bid: '0.00000001 WAX',
          duration: 86_400,
          maker_marketplace: '',
        }),
        this.#transfer(ATTACKER, MARKET, [id], 'auction'),
      ]),
    )
  }

  #produce(transactions: readonly (readonly ActionInput[])[]): void {
    this.#chain.produceBlock({ transactions, rate: 0 })
  }

  #assets(name: string, data: Readonly<Record<string, unknown>>, actor = ATTACKER): ActionInput {
    return this.#chain.action(ASSETS, name, actor, data)
  }

  #market(name: string, data: Readonly<Record<string, unknown>>): ActionInput {
    return this.#chain.action(MARKET, name, ATTACKER, data)
  }

  #template(values: Readonly<Record<string, unknown>>): ActionInput {
    return this.#assets('createtempl', {
      authorized_creator: ATTACKER,
      collection_name: ATTACKER,
      schema_name: SCHEMA,
      transferable: true,
      burnable: true,
      max_supply: 0,
      immutable_data: attributes(values),
    })
  }

  #transfer(from: string, to: string, ids: readonly bigint[], memo: string): ActionInput {
    return this.#assets('transfer', { from, to, asset_ids: ids, memo }, from)
  }
}
