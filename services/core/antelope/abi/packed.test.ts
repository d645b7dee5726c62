import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAbi } from '../../../../tests/decode/recordings.ts'
import { AbiError, DecodeError } from '../../bytes/index.ts'
import { normalizeAbiJson } from './definition.ts'
import { packAbi, parsePackedAbi } from './packed.ts'

const contracts = [
  'assets.v1',
  'assets.v2',
  'assets.v2.cdt4',
  'market.v1',
  'market.v2',
  'oracle',
  'tools',
  'token',
]

describe('packed ABIs', () => {
  it.each(contracts)('the reader of packed ABIs reads what packAbi writes: %s', (name) => {
    const abi = readAbi(name)
    expect(parsePackedAbi(packAbi(abi))).toEqual(abi)
  })

  it('the reader of packed ABIs accepts an ABI without the sections that later versions added', () => {
    const whole = normalizeAbiJson({
      version: 'eosio::abi/1.0',
      structs: [{ name: 's', fields: [{ name: 'a', type: 'uint8' }] }],
      actions: [{ name: 'act', type: 's' }],
      tables: [{ name: 'tab', type: 's', key_names: ['k'], key_types: ['name'] }],
      error_messages: [{ error_code: '18446744073709551615', error_msg: 'x' }],
      abi_extensions: [[7, 'ff']],
    })
    const packed = packAbi(whole)
    expect(parsePackedAbi(packed)).toEqual(whole)
    const cut = packed.subarray(0, packed.length - 1 - 8 - 2 - 1 - 2 - 2)
    expect(parsePackedAbi(cut)).toMatchObject({
      tables: whole.tables,
      error_messages: [],
      abi_extensions: [],
    })
  })

  it('the reader of packed ABIs preserves bytes after the known sections', () => {
    const abi = { ...readAbi('assets.v2'), version: 'eosio::abi/1.2' }
    const packed = Buffer.concat([packAbi(abi), Buffer.from('00ff', 'hex')])
    expect(parsePackedAbi(packed)).toEqual({ ...abi, unknown_sections: '00ff' })
    expect(packAbi(parsePackedAbi(packed))).toEqual(new Uint8Array(packed))
  })

  it.each([
    {
      version: 'eosio::abi/1.2',
      kv_tables: {
        orders: {
          type: 's',
          primary_index: { name: 'id', type: 'uint64' },
          secondary_indices: { '5': { type: 'name' }, '1': { type: 'string' } },
        },
      },
    },
    { version: 'eosio::abi/1.2', kv_tables: {} },
    { version: 'eosio::abi/1.3', calls: [{ name: 'get', type: 's', id: '18446744073709551615' }] },
    { version: 'eosio::abi/1.3', calls: [{ name: 'a_long_name_of_a_call', type: 's' }] },
    { version: 'eosio::abi/1.3', calls: [], call_results: [{ name: 'get', result_type: 'uint8' }] },
    { version: 'eosio::abi/1.4', calls: [], call_results: [] },
  ])('the reader of packed ABIs reads the sections of ABI versions 1.2 to 1.4, case %#', (sections) => {
    const abi = { ...readAbi('assets.v2'), ...sections }
    expect(parsePackedAbi(packAbi(abi))).toEqual(abi)
  })

  it('the reader of packed ABIs reads the section `calls` of an ABI as Spring 2.0 writes this section', () => {
    const abi = { ...readAbi('assets.v2'), version: 'eosio::abi/1.3', action_results: [] }
    const packed = packAbi(abi)
    // Bytes of two sections: calls is [{ name: 'ask', type: 's', id: 7 }], call_results is [{ name: 'ask', result_type:
    // 'uint8' }].
    const calls = Buffer.from('010361736b0173070000000000000001' + '0361736b0575696e7438', 'hex')
    expect(parsePackedAbi(Buffer.concat([packed, calls]))).toMatchObject({
      calls: [{ name: 'ask', type: 's', id: '7' }],
      call_results: [{ name: 'ask', result_type: 'uint8' }],
    })
  })

  it('the reader of packed ABIs reports the section at which a truncated ABI ends', () => {
    const packed = packAbi(readAbi('assets.v2'))
    expect(() => parsePackedAbi(packed.subarray(0, 20))).toThrow(/DECODE_FAILED|abi\.types/)
    expect(() => parsePackedAbi(new Uint8Array(0))).toThrow(DecodeError)
    expect(() => parsePackedAbi(Buffer.from('0e656f73696f3a3a6162692f322e30', 'hex'))).toThrow('ABI version')
  })

  it('the reader of packed ABIs decodes any bytes or throws a DecodeError', () => {
    const packed = Buffer.from(packAbi(readAbi('market.v1')))
    const edit = fc.tuple(fc.nat(packed.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.nat(packed.length), (edits, length) => {
        const bytes = Buffer.from(packed.subarray(0, Math.max(length, 40)))
        for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value
        try {
          expect(parsePackedAbi(bytes).version).toContain('eosio::abi/1.')
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('ABIs as JSON', () => {
  it('the reader of JSON ABIs adds missing sections as empty lists', () => {
    expect(normalizeAbiJson({ structs: [{ name: 's' }] })).toEqual({
      version: 'eosio::abi/1.1',
      types: [],
      structs: [{ name: 's', base: '', fields: [] }],
      actions: [],
      tables: [],
      ricardian_clauses: [],
      error_messages: [],
      abi_extensions: [],
      variants: [],
      action_results: [],
    })
  })

  it.each([
    [null, 'ABI is not an object'],
    [[], 'ABI is not an object'],
    [{ structs: {} }, 'structs is not a list'],
    [{ structs: [{ name: 's', fields: [{ name: 'a' }] }] }, 'structs[0].fields[0].type is not a text'],
    [{ actions: [3] }, 'actions[0] is not an object'],
    [{ error_messages: [{ error_code: 'x' }] }, 'error_messages[0].error_code is not a number'],
    [{ abi_extensions: [['a', 'b']] }, 'abi_extensions[0] has no numeric tag'],
    [{ structs: new Array(70_000).fill(0) }, 'more than 65536'],
  ])('the reader of JSON ABIs names the invalid member, case %#', (json, message) => {
    expect(() => normalizeAbiJson(json)).toThrow(AbiError)
    expect(() => normalizeAbiJson(json)).toThrow(message)
  })
})
