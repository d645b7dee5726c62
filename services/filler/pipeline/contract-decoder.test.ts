import { expect, it } from 'vitest'
import { readAbi } from '../../../tests/decode/recordings.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { packAbi } from '../../core/antelope/abi/index.ts'
import type { AbiDefinition, AbiStruct } from '../../core/antelope/abi/index.ts'
import { DecodeError } from '../../core/bytes/index.ts'
import { ContractDecoder } from './contract-decoder.ts'

const assets = readAbi('assets.v2')
const quantities = ['1.00000000 WAX', '2.0000 KARMA']

/** Returns the ABI of the assets contract (v2) with changed fields of a balances row. */
function withBalances(change: (fields: AbiStruct['fields']) => AbiStruct['fields']): AbiDefinition {
  const structs = assets.structs.map((struct) =>
    struct.name === 'balances_s' ? { ...struct, fields: change(struct.fields) } : struct,
  )
  return { ...assets, structs }
}

const inFront = withBalances(([owner, list]) => [owner!, { name: 'added', type: 'uint8' }, list!])
const behind = withBalances((fields) => [...fields, { name: 'added', type: 'uint8' }])
const shorter = withBalances(([owner]) => [owner!])

function readRow(abis: readonly AbiDefinition[], packedWith: AbiDefinition, row: object): unknown {
  const decoder = new ContractDecoder('atomicassets', {}, { balances: { fields: ['owner', 'quantities'] } })
  for (const abi of abis) expect(decoder.setAbi(packAbi(abi))).toBeNull()
  const bytes = compileAbi(packedWith).encoder('balances_s')(row)
  return decoder.decodeRow('balances', bytes, 0, bytes.length)
}

const alice = { owner: 'alice', quantities }
const added = { ...alice, added: 0 }

it.each([
  [
    'a newer ABI with a field in front of the list, which would leave bytes undecoded',
    [assets, inFront],
    assets,
    alice,
  ],
  ['a newer ABI with a field in front of the list, which uses all bytes', [assets, inFront], inFront, added],
  ['a newer ABI with a field behind the list, for which bytes are missing', [assets, behind], assets, alice],
  ['a newer ABI with a field behind the list, which uses all bytes', [assets, behind], behind, added],
  ['only one ABI, although the ABI leaves bytes undecoded', [assets], behind, added],
  [
    'a newer ABI that leaves more bytes undecoded than the older ABI',
    [assets, shorter, assets],
    behind,
    added,
  ],
])('a contract row is decoded with the ABI that fits its bytes best: %s', (_, abis, packedWith, row) => {
  expect(readRow(abis, packedWith, row)).toEqual(alice)
})

it('a row that fits no ABI is refused with the path of the faulty field', () => {
  const strange = withBalances(() => [{ name: 'owner', type: 'bytes' }])
  expect(() => readRow([assets, inFront], strange, { owner: 'ff' })).toThrow(DecodeError)
})
