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

/** Tables that a block writes whose only action is one of the market, authorized by the accounts, after its ABIs. */
async function tablesAfter(
  name: string,
  data: Uint8Array,
  actors: readonly string[],
  abis: readonly AbiDefinition[] = [market.definition],
): Promise<string[]> {
  const applier = new BlockApplier(
    'test',
    sortFamilies(entries.map((entry) => createHandler(entry, entries)!)),
    [],
    createLogger({ name: 'test', level: 'silent', pretty: false }),
  )
  applier.useProtocol(compileProtocol(ship.definition))
  await applier.reload(() => Promise.resolve([]), 0, 0)
  for (const abi of abis) applier.assumeAbi('atomicmarket', packAbi(abi))
  const authorization = actors.map((actor) => ({ actor, permission: 'active' }))
  const traces = ship.encoder('transaction_trace[]')(
    fill(ship.types.resolve('transaction_trace[]'), [
      {
        action_traces: [
          {
            action_ordinal: 1,
            receipt: { receiver: 'atomicmarket', global_sequence: 5n },
            receiver: 'atomicmarket',
            act: { account: 'atomicmarket', name, authorization, data },
          },
        ],
      },
    ]),
  )
  const position = { num: 7, id: new Uint8Array(32) }
  const block: ShipBlock = {
    connection: 1,
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
  return [...unit.rowCounts()].map(([table]) => table)
}

describe('actions of accounts', () => {
  const id = Buffer.alloc(8, 1)
  const memo = Buffer.from('no')
  const price = market.encoder('asset')('1.00000000 WAX')
  const acceptance = (count: Uint8Array) => Buffer.concat([id, count, id, id, price, Buffer.alloc(8)])
  const refusal = (length: Uint8Array) => Buffer.concat([id, length, memo])

  it.each([1, 2, 5, 6, 12, 40])('a count or length in %d bytes is what the contract reads', async (bytes) => {
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
  })

  it('an action that does not fit the ABI is left out', async () => {
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
    ['somebody else', ['mallory']],
    ['the contract and somebody else', ['atomicmarket', 'mallory']],
    ['nobody', []],
  ])('a log action that %s authorizes is neither applied nor read', async (_, actors) => {
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
    ['lacks it', { ...market.definition, actions: actions.filter(({ name }) => !name.startsWith('log')) }],
    ['does not define a type of it', withFields({ name: 'extra', type: 'nothing' })],
    ['has it with fields that the code does not send yet', withFields({ name: 'extra', type: 'uint64' })],
  ])('a log action is read by the ABI of before when the contract sets one that %s', async (_, abi) => {
    const abis = [market.definition, abi]
    expect(await tablesAfter('lognewtbuyo', packed, ['atomicmarket'], abis)).toContain(
      'market.template_buyoffers',
    )
    await expect(tablesAfter('lognewtbuyo', Uint8Array.of(1), ['atomicmarket'], abis)).rejects.toThrow(
      'lognewtbuyo',
    )
  })

  it('an action of accounts that the ABI in force lacks is left out, whatever an older one has', async () => {
    const abi = { ...market.definition, actions: actions.filter(({ name }) => name !== 'canceltbuyo') }
    const cancelling = Buffer.alloc(8, 1)
    expect(await tablesAfter('canceltbuyo', cancelling, ['bob'])).toContain('market.template_buyoffers')
    expect(await tablesAfter('canceltbuyo', cancelling, ['bob'], [market.definition, abi])).toEqual([])
  })
})
