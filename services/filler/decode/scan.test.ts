import { describe, expect, it } from 'vitest'
import { fill } from '../../../tests/decode/fill.ts'
import { readAbi } from '../../../tests/decode/recordings.ts'
import { bytesToHex, DecodeError } from '../../core/bytes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { compileProtocol } from './protocol.ts'
import { createWatchSet } from './watch-set.ts'
import type { ScannedRow } from './scanned.ts'

const generationNames = ['eosio-1.8', 'eosio-2.0', 'eosio-2.1', 'leap', 'spring'].map(
  (name) => `ship.${name}`,
)
const watch = createWatchSet(['atomicassets', 'atomicmarket'])
const txid = (digit: string): string => digit.repeat(64)
const long = 'x'.repeat(300)

interface ActionParts {
  readonly account: string
  readonly name?: string
  readonly receiver?: string
  readonly sequence?: bigint | null
  readonly data?: Uint8Array
}

/**
 * Creates an action trace from the fields that the scan reads, and fills the other fields, which the scan has to skip.
 */
function actionTrace({
  account,
  name = 'logmint',
  receiver = account,
  sequence = 1n,
  data,
}: ActionParts): object {
  const auth = [{ account: 'someone', sequence: 5n }]
  const receipt = {
    receiver,
    global_sequence: sequence,
    auth_sequence: auth,
    code_sequence: 300,
    abi_sequence: 2,
  }
  return {
    action_ordinal: 200,
    creator_action_ordinal: 3,
    receipt: sequence === null ? null : receipt,
    receiver,
    act: {
      account,
      name,
      authorization: [
        { actor: account, permission: 'active' },
        { actor: 'other', permission: 'owner' },
      ],
      data: data ?? Uint8Array.of(1, 2, 3),
    },
    console: long,
    account_ram_deltas: [{ account: 'someone', delta: -5n }],
    account_disk_deltas: [{ account: 'someone', delta: 7n }],
    except: long,
    error_code: 1n,
    return_value: Buffer.from(long),
  }
}

function codecs(generation: string) {
  const abi = compileAbi(readAbi(generation))
  const pack = (type: string, value: unknown): Uint8Array =>
    abi.encoder(type)(fill(abi.types.resolve(type), value))
  const protocol = compileProtocol(abi.definition)
  return {
    protocol,
    packTraces: (transactions: object[]) => pack('transaction_trace[]', transactions),
    packDeltas: (tables: unknown[]) => pack('table_delta[]', tables),
    pack,
  }
}

describe.each(generationNames)('actions found in packed traces of %s', (generation) => {
  const { protocol, packTraces } = codecs(generation)
  const found = (transactions: object[]) =>
    protocol
      .collectActions(packTraces(transactions), watch)
      .map((action) => `${action.globalSequence} ${action.account}::${action.name}`)

  it('the trace scan returns all fields of an action', () => {
    const data = Uint8Array.of(9, 8, 7)
    const payload = packTraces([
      { id: txid('1'), action_traces: [actionTrace({ account: 'eosio', name: 'onblock' })] },
      {
        id: txid('2'),
        partial: {},
        except: long,
        account_ram_delta: { account: 'a', delta: 1n },
        action_traces: [
          actionTrace({ account: 'eosio.token' }),
          actionTrace({ account: 'atomicassets', data, sequence: 2n ** 63n }),
        ],
      },
    ])
    const [action, ...others] = protocol.collectActions(payload, watch)
    expect(others).toEqual([])
    expect(action).toMatchObject({
      txIndex: 1,
      actionOrdinal: 200,
      creatorActionOrdinal: 3,
      globalSequence: 2n ** 63n,
      account: 'atomicassets',
      name: 'logmint',
    })
    expect(bytesToHex(action!.txid)).toBe(txid('2'))
    expect([...action!.data]).toEqual([...data])
    expect(action!.actors()).toEqual(['atomicassets', 'other'])
    expect(action!.authorizations()[1]).toEqual({ actor: 'other', permission: 'owner' })
  })

  it('the trace scan returns actions in the order of their global sequence', () => {
    const sequences = [2n ** 33n, 5n, 2n ** 32n, 4n]
    const action_traces = sequences.map((sequence) => actionTrace({ account: 'atomicmarket', sequence }))
    expect(found([{ action_traces }])).toEqual(
      [4n, 5n, 2n ** 32n, 2n ** 33n].map((sequence) => `${sequence} atomicmarket::logmint`),
    )
  })

  it('the trace scan skips notifications and actions without a receipt', () => {
    const action_traces = [
      actionTrace({ account: 'atomicassets', receiver: 'alice' }),
      actionTrace({ account: 'alice', receiver: 'atomicassets' }),
      actionTrace({ account: 'atomicassets', sequence: null }),
    ]
    expect(found([{ action_traces }])).toEqual([])
  })

  it('the trace scan skips transactions that were not executed', () => {
    const action_traces = [actionTrace({ account: 'atomicassets', sequence: 7n })]
    const transactions = [1, 2, 3, 4, 0].map((status) => ({ status, action_traces }))
    expect(found(transactions)).toEqual(['7 atomicassets::logmint'])
  })

  it('scanTransactions returns executed actions of all accounts, with CPU and NET usage of the transaction', () => {
    const action_traces = [
      actionTrace({ account: 'alice', sequence: 2n }),
      actionTrace({ account: 'atomicassets', sequence: 3n }),
      actionTrace({ account: 'atomicassets', receiver: 'alice' }),
    ]
    const payload = packTraces([
      { id: txid('1'), status: 1, cpu_usage_us: 9, net_usage_words: 9, action_traces },
      { id: txid('2'), cpu_usage_us: 2 ** 32 - 1, net_usage_words: 300, action_traces },
      {
        id: txid('3'),
        cpu_usage_us: 0,
        net_usage_words: 0,
        action_traces: [actionTrace({ account: 'bob' })],
      },
    ])
    const billed: string[] = []
    protocol.scanTransactions(payload, {
      action: ({ account, txIndex, cpuUsageUs, netUsageWords }) =>
        void billed.push(`${txIndex} ${account} ${cpuUsageUs} ${netUsageWords}`),
    })
    expect(billed).toEqual(['1 alice 4294967295 300', '1 atomicassets 4294967295 300', '2 bob 0 0'])
    expect(() => protocol.scanTransactions(payload.subarray(0, -1), { action: () => undefined })).toThrow(
      DecodeError,
    )
  })

  it('the trace scan skips the failed transaction nested in its error handler transaction', () => {
    const inner = { status: 0, action_traces: [actionTrace({ account: 'atomicassets', sequence: 1n })] }
    const middle = { status: 1, failed_dtrx_trace: inner, action_traces: inner.action_traces }
    const outer = {
      status: 0,
      action_traces: [actionTrace({ account: 'atomicassets', sequence: 2n })],
      failed_dtrx_trace: middle,
      partial: {},
    }
    expect(found([outer, outer])).toEqual(['2 atomicassets::logmint', '2 atomicassets::logmint'])
  })

  it('the trace scan returns eosio::setabi of any account, and no other action of eosio', () => {
    const action_traces = ['setabi', 'setcode', 'newaccount'].map((name) =>
      actionTrace({ account: 'eosio', name }),
    )
    expect(found([{ action_traces }])).toEqual(['1 eosio::setabi'])
    const elsewhere = [actionTrace({ account: 'alice', name: 'setabi' })]
    expect(found([{ action_traces: elsewhere }])).toEqual([])
  })

  it('the trace scan decodes every version of an action trace', () => {
    const trace = actionTrace({ account: 'atomicassets' })
    const versions = ['eosio-1.8', 'eosio-2.0'].some((name) => generation.endsWith(name))
      ? ['action_trace_v0']
      : ['action_trace_v0', 'action_trace_v1']
    expect(found([{ action_traces: versions.map((version) => [version, trace]) }])).toHaveLength(
      versions.length,
    )
  })

  it('the trace scan refuses truncated traces and trailing bytes', () => {
    const payload = packTraces([{ action_traces: [actionTrace({ account: 'atomicassets' })], partial: {} }])
    for (let length = 0; length < payload.length; length++) {
      expect(() => protocol.collectActions(payload.subarray(0, length), watch)).toThrow(DecodeError)
    }
    const longer = Buffer.concat([payload, Buffer.alloc(1)])
    expect(() => protocol.collectActions(longer, watch)).toThrow('left over')
  })

  it('the sink of a trace scan may call other decoders during the scan (re-entrant)', () => {
    const abi = compileAbi(readAbi('token'))
    const name = abi.encoder('name')('eosio.token')
    const payload = packTraces([
      { action_traces: [actionTrace({ account: 'atomicassets' }), actionTrace({ account: 'atomicmarket' })] },
      { action_traces: [actionTrace({ account: 'atomicassets', data: name })] },
    ])
    const names: unknown[] = []
    protocol.scanTraces(payload, watch, {
      action: (action) => {
        expect(abi.decodeType('name', name)).toBe('eosio.token')
        expect(() => abi.decodeType('asset', name)).toThrow(DecodeError)
        if (action.data.length === 8) {
          names.push(abi.decoder('name')(action.payload, action.dataStart, action.dataEnd))
        } else names.push(action.account)
      },
    })
    expect(names).toEqual(['atomicassets', 'atomicmarket', 'eosio.token'])
  })

  it('the trace scan rethrows errors of the sink', () => {
    const payload = packTraces([{ action_traces: [actionTrace({ account: 'atomicassets' })] }])
    const scan = () =>
      protocol.scanTraces(payload, watch, {
        action: () => {
          throw new TypeError('mine')
        },
      })
    expect(scan).toThrow('mine')
    expect(protocol.collectActions(payload, watch)).toHaveLength(1)
  })
})

describe.each(generationNames)('deltas of %s', (generation) => {
  const { protocol, packDeltas, pack } = codecs(generation)
  const row = (code: string, primary_key: bigint): Uint8Array =>
    pack('contract_row', {
      code,
      scope: 'alice',
      table: 'assets',
      primary_key,
      payer: 'bob',
      value: Uint8Array.of(5, 6),
    })
  const versions = generation.endsWith('2.1') ? ['table_delta_v0', 'table_delta_v1'] : ['table_delta_v0']

  it.each(versions)('the delta scan returns rows of watched contracts from %s', (version) => {
    const presences = version === 'table_delta_v1' ? [0, 1, 2] : [false, true, true]
    const rows = [
      { present: presences[0], data: row('atomicassets', 1n) },
      { present: presences[1], data: row('atomicmarket', 2n ** 64n - 1n) },
      { present: presences[1], data: row('eosio.token', 3n) },
      { present: presences[2], data: row('atomicassets', 4n) },
    ]
    const other = [{ present: presences[1], data: Buffer.from(long) }]
    const payload = packDeltas([
      [version, { name: 'contract_table', rows: other }],
      [version, { name: 'contract_row', rows }],
      [version, { name: 'contract_rows', rows: other }],
    ])
    const found: ScannedRow[] = []
    protocol.scanDeltas(payload, watch, { row: (record) => void found.push(record.copy()) })
    expect(found.map((record) => [record.present, record.code, record.primaryKey()])).toEqual([
      [false, 'atomicassets', 1n],
      [true, 'atomicmarket', 2n ** 64n - 1n],
      [true, 'atomicassets', 4n],
    ])
    expect(found[0]).toMatchObject({ scope: 'alice', table: 'assets', payer: 'bob' })
    expect([...found[2]!.value]).toEqual([5, 6])
    expect(found[2]!.payload.subarray(found[2]!.valueStart, found[2]!.valueEnd)).toEqual(found[2]!.value)
  })

  it('the delta scan returns accounts with their ABI, and whether an account has code', () => {
    const account = pack('account', { name: 'alice', abi: Uint8Array.of(1, 2) })
    const [plain, contract] = [null, { vm_type: 0 }].map((code) =>
      pack('account_metadata', { name: 'alice', code }),
    )
    const payload = packDeltas([
      { name: 'account', rows: [{ present: 1, data: account }].map((entry) => presence(entry)) },
      { name: 'account_metadata', rows: [plain, contract].map((data) => presence({ present: 1, data })) },
    ])
    const found: unknown[] = []
    protocol.scanDeltas(payload, watch, {
      row: () => expect.fail('there is no row'),
      account: (name, abi) => found.push([name, bytesToHex(abi)]),
      accountMetadata: (name, hasCode) => found.push([name, hasCode]),
    })
    expect(found).toEqual([
      ['alice', '0102'],
      ['alice', false],
      ['alice', true],
    ])
    protocol.scanDeltas(payload, watch, { row: () => expect.fail('there is no row') })
  })

  const presence = ({ present, data }: { present: number; data: unknown }) => ({
    present: generation.endsWith('2.1') ? present : present !== 0,
    data,
  })

  it('the delta scan refuses truncated deltas and trailing bytes', () => {
    const rows = ['atomicassets', 'eosio.token'].map((code) => presence({ present: 1, data: row(code, 1n) }))
    const accounts = [presence({ present: 1, data: pack('account', { name: 'alice' }) })]
    const payload = packDeltas([
      { name: 'account', rows: accounts },
      { name: 'contract_row', rows },
    ])
    const sink = { row: () => undefined, account: () => undefined, accountMetadata: () => undefined }
    for (let length = 0; length < payload.length; length++) {
      expect(() => protocol.scanDeltas(payload.subarray(0, length), watch, sink)).toThrow(DecodeError)
    }
    expect(() => protocol.scanDeltas(Buffer.concat([payload, Buffer.alloc(1)]), watch, sink)).toThrow(
      'left over',
    )
  })

  it.each([
    ['an empty row', new Uint8Array(0)],
    ['a row of another version', Buffer.from(row('atomicassets', 1n)).fill(9, 0, 1)],
    ['a row with trailing bytes', Buffer.concat([row('atomicassets', 1n), Buffer.alloc(1)])],
    ['a row whose value is longer than the row', Buffer.from(row('atomicassets', 1n)).fill(3, 41, 42)],
  ])('the delta scan refuses %s', (_, data) => {
    const payload = packDeltas([{ name: 'contract_row', rows: [presence({ present: 1, data })] }])
    expect(() => protocol.scanDeltas(payload, watch, { row: () => undefined })).toThrow(DecodeError)
  })
})

describe('watched accounts', () => {
  it('a watch set of 500 accounts finds each of them and no other account', () => {
    const names = Array.from(
      { length: 500 },
      (_, i) => `acc${i.toString(5).replace(/\d/g, (digit) => 'abcde'[Number(digit)]!)}`,
    )
    const set = createWatchSet([...names, names[0]!])
    const { protocol, packTraces } = codecs('ship.leap')
    const action_traces = [...names, 'accaz', 'zzz'].map((account) => actionTrace({ account }))
    expect(set.accounts).toHaveLength(500)
    expect(protocol.collectActions(packTraces([{ action_traces }]), set)).toHaveLength(500)
  })

  it('a watch set may contain the empty name (value 0), or be empty', () => {
    const { protocol, packTraces } = codecs('ship.leap')
    const payload = packTraces([{ action_traces: [actionTrace({ account: '' })] }])
    expect(protocol.collectActions(payload, createWatchSet(['']))).toHaveLength(1)
    expect(protocol.collectActions(payload, createWatchSet([]))).toHaveLength(0)
  })
})
