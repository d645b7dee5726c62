import { describe, expect, it } from 'vitest'
import { fill } from '../../../tests/decode/fill.ts'
import { readAbi } from '../../../tests/decode/recordings.ts'
import { bytesToHex } from '../../core/bytes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { packAbi } from '../../core/antelope/abi/index.ts'
import type { AbiDefinition } from '../../core/antelope/abi/index.ts'
import { createLogger } from '../../core/log/index.ts'
import { compileProtocol } from '../decode/index.ts'
import { createHandler, sortFamilies } from '../handlers/index.ts'
import type { ShipBlock } from '../ship/index.ts'
import { CommitUnit } from '../store/index.ts'
import { BlockApplier } from './block-applier.ts'

const entries = [
  { handler: 'market', args: { market_account: 'atomicmarket', store_logs: true } },
  { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
  { handler: 'assets', args: { assets_account: 'atomicassets', store_transfers: true, store_logs: true } },
]
const ship = compileAbi(readAbi('ship.leap'))
const market = compileAbi(readAbi('market.v1.3.3'))

type Action = readonly [name: string, data: Uint8Array]

/**
 * Sets the ABIs, applies a block with one market action authorized by `actors`, and returns the tables that it writes.
 */
async function tablesAfter(
  name: string,
  data: Uint8Array,
  actors: readonly string[],
  abis: readonly AbiDefinition[] = [market.definition],
): Promise<string[]> {
  return (await applied([[name, data]], actors, abis)).tables
}

/** Applies market actions as one block. Returns the written tables, the counters and the logged messages. */
async function applied(
  actions: readonly Action[],
  actors: readonly string[],
  abis: readonly AbiDefinition[] = [market.definition],
) {
  const messages: string[] = []
  const applier = new BlockApplier(
    'test',
    sortFamilies(entries.map((entry) => createHandler(entry, entries)!)),
    [],
    createLogger({ name: 'test', level: 'warn', destination: { write: (text) => void messages.push(text) } }),
  )
  applier.useProtocol(compileProtocol(ship.definition))
  await applier.reload(() => Promise.resolve([]), 0, 0)
  for (const abi of abis) applier.assumeAbi('atomicmarket', packAbi(abi))
  const authorization = actors.map((actor) => ({ actor, permission: 'active' }))
  const traces = ship.encoder('transaction_trace[]')(
    fill(ship.types.resolve('transaction_trace[]'), [
      {
        action_traces: actions.map(([name, data], i) => ({
          action_ordinal: i + 1,
          receipt: { receiver: 'atomicmarket', global_sequence: 5n + BigInt(i) },
          receiver: 'atomicmarket',
          act: { account: 'atomicmarket', name, authorization, data },
        })),
      },
    ]),
  )
  const position = { num: 7, id: new Uint8Array(32) }
  const block: ShipBlock = {
    node: 'ws://node/',
    bytes: 0,
    num: position.num,
    id: bytesToHex(position.id),
    idBytes: position.id,
    prevId: null,
    prevIdBytes: null,
    head: position,
    lib: position,
    header: null,
    traces,
    deltas: null,
  }
  const unit = new CommitUnit(false)
  applier.apply(block, unit)
  const tables = [...unit.rowCounts()].map(([table]) => table)
  return { tables, counters: applier.counters, messages }
}

describe('actions that accounts authorize', () => {
  const id = Buffer.alloc(8, 1)
  const memo = Buffer.from('no')
  const price = market.encoder('asset')('1.00000000 WAX')
  const acceptance = (count: Uint8Array) => Buffer.concat([id, count, id, id, price, Buffer.alloc(8)])
  const refusal = (length: Uint8Array) => Buffer.concat([id, length, memo])

  it.each([1, 2, 5, 6, 12, 40])(
    'an action whose element count or text length is padded to %d bytes is decoded, because contracts accept the padding',
    async (bytes) => {
      const padded = (value: number) => {
        const number = Buffer.alloc(bytes, 0x80)
        number[bytes - 1] = 0
        number[0]! |= value
        return number
      }
      for (const [name, data] of [
        ['acceptbuyo', acceptance(padded(2))],
        ['declinebuyo', refusal(padded(memo.length))],
      ] as const)
        expect(await tablesAfter(name, data, ['bob'])).toContain('market.buyoffers')
    },
  )

  it('an action that does not fit the ABI is skipped', async () => {
    expect(await tablesAfter('declinebuyo', refusal(Uint8Array.of(3)), ['bob'])).toEqual([])
    expect(await tablesAfter('declinebuyo', Buffer.alloc(100, 0x80), ['bob'])).toEqual([])
  })
})

describe('log actions', () => {
  const packed = market.encoder('lognewtbuyo')({
    buyoffer_id: 99n,
    buyer: 'bob',
    price: '1.00000000 WAX',
    template_id: 5n,
    maker_marketplace: '',
    collection_name: 'cards',
    collection_fee: 0.05,
  })

  it('a log action that the contract authorizes is applied', async () => {
    expect(await tablesAfter('lognewtbuyo', packed, ['atomicmarket'])).toContain('market.template_buyoffers')
  })

  it.each([
    ['another account', ['mallory']],
    ['the contract together with another account', ['atomicmarket', 'mallory']],
    ['nobody', []],
  ])('a log action that %s authorizes is neither applied nor decoded', async (_, actors) => {
    expect(await tablesAfter('lognewtbuyo', packed, actors)).toEqual([])
    expect(await tablesAfter('lognewtbuyo', Uint8Array.of(1), actors)).toEqual([])
  })

  const { actions, structs } = market.definition
  const withFields = (...added: AbiDefinition['structs'][number]['fields'][number][]): AbiDefinition => ({
    ...market.definition,
    structs: structs.map((struct) =>
      struct.name === 'lognewtbuyo' ? { ...struct, fields: [...struct.fields, ...added] } : struct,
    ),
  })
  it.each([
    [
      'lacks log actions',
      { ...market.definition, actions: actions.filter(({ name }) => !name.startsWith('log')) },
    ],
    ['lacks a type of the log action', withFields({ name: 'extra', type: 'nothing' })],
    ['adds a field that the contract code does not send yet', withFields({ name: 'extra', type: 'uint64' })],
  ])('log actions are decoded with the previous ABI if the contract sets an ABI that %s', async (_, abi) => {
    const abis = [market.definition, abi]
    expect(await tablesAfter('lognewtbuyo', packed, ['atomicmarket'], abis)).toContain(
      'market.template_buyoffers',
    )
  })

  it('log actions that fit no ABI are counted and skipped, and the first one of each action name is logged', async () => {
    const misfit: Action = ['lognewtbuyo', Uint8Array.of(1)]
    const { tables, counters, messages } = await applied(
      [misfit, ['lognewtbuyo', packed], misfit, ['logsalestart', Uint8Array.of(1)], misfit],
      ['atomicmarket'],
    )
    expect(tables).toContain('market.template_buyoffers')
    expect(counters).toEqual({ undecodableActions: 4, unknownTables: 0 })
    expect(messages).toHaveLength(2)
    expect(messages[0]).toMatch(/"block":7.*transaction 0{64}, action atomicmarket::lognewtbuyo.*is skipped/)
  })

  const listing = {
    seller: 'bob',
    asset_ids: [2n ** 40n],
    listing_price: '1.00000000 WAX',
    settlement_symbol: '8,WAX',
    maker_marketplace: '',
    collection_name: 'cards',
    collection_fee: 0.05,
  }
  it.each([
    ['lognewsale', 'sale_id', { ...listing, sale_id: 2n ** 63n }],
    ['lognewsale', 'asset_ids', { ...listing, sale_id: 1n, asset_ids: [1n, 2n ** 63n] }],
    ['logsalestart', 'offer_id', { sale_id: 1n, offer_id: 2n ** 63n }],
    [
      'lognewtbuyo',
      'template_id',
      {
        buyoffer_id: 1n,
        buyer: 'bob',
        price: '1.00000000 WAX',
        template_id: 2n ** 31n,
        maker_marketplace: '',
        collection_name: 'cards',
        collection_fee: 0,
      },
    ],
  ])(
    'an action %s whose %s exceeds the column stops the reader with an error that names the field',
    async (name, field, value) => {
      await expect(applied([[name, market.encoder(name)(value)]], ['atomicmarket'])).rejects.toMatchObject({
        code: 'BLOCK_FAILED',
        message: expect.stringMatching(
          new RegExp(
            `block 7 .*transaction 0{64}, action atomicmarket::${name} .*: field ${field} is \\d{10}`,
          ),
        ) as string,
      })
    },
  )

  it('an action is skipped if its sale_id exceeds int64, but not if its intended_delphi_median does', async () => {
    const purchase = {
      buyer: 'bob',
      sale_id: 1n,
      intended_delphi_median: 2n ** 64n - 1n,
      taker_marketplace: '',
    }
    const actions: Action[] = [
      ['purchasesale', market.encoder('purchasesale')(purchase)],
      ['cancelsale', market.encoder('cancelsale')({ sale_id: 2n ** 63n })],
    ]
    const { tables, counters } = await applied(actions, ['bob'])
    expect(tables).toContain('market.sales')
    expect(counters.undecodableActions).toBe(1)
  })

  it('an account action that the current ABI lacks is skipped, although an older ABI has it', async () => {
    const abi = { ...market.definition, actions: actions.filter(({ name }) => name !== 'canceltbuyo') }
    const cancelling = Buffer.alloc(8, 1)
    expect(await tablesAfter('canceltbuyo', cancelling, ['bob'])).toContain('market.template_buyoffers')
    expect(await tablesAfter('canceltbuyo', cancelling, ['bob'], [market.definition, abi])).toEqual([])
  })
})
