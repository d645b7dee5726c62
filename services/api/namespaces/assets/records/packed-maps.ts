import type { AbiDefinition } from '../../../../core/antelope/abi/index.ts'
import { compileAbi } from '../../../../core/antelope/decoder/index.ts'

/**
 * ABI type of each alternative of the variant that encodes an attribute value. The order is the order of the
 * alternatives on the wire, which is equal in every version of the contract.
 */
const vectors: Readonly<Record<string, string>> = {
  INT8_VEC: 'int8[]',
  INT16_VEC: 'int16[]',
  INT32_VEC: 'int32[]',
  INT64_VEC: 'int64[]',
  UINT8_VEC: 'uint8[]',
  UINT16_VEC: 'uint16[]',
  UINT32_VEC: 'uint32[]',
  UINT64_VEC: 'uint64[]',
  FLOAT_VEC: 'float32[]',
  DOUBLE_VEC: 'float64[]',
  STRING_VEC: 'string[]',
}
const scalars = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']

const CHANGE = 'change'

const definition: AbiDefinition = {
  version: 'eosio::abi/1.1',
  types: Object.entries(vectors).map(([name, type]) => ({ new_type_name: name, type })),
  structs: [
    {
      name: 'pair',
      base: '',
      fields: [
        { name: 'key', type: 'string' },
        { name: 'value', type: 'attribute' },
      ],
    },
    {
      name: CHANGE,
      base: '',
      fields: [
        { name: 'old_data', type: 'pair[]' },
        { name: 'new_data', type: 'pair[]' },
      ],
    },
  ],
  actions: [],
  tables: [],
  ricardian_clauses: [],
  error_messages: [],
  abi_extensions: [],
  variants: [
    {
      name: 'attribute',
      types: [...scalars, 'float32', 'float64', 'string', ...Object.keys(vectors)],
    },
  ],
  action_results: [],
}

const abi = compileAbi(definition)
const decode = abi.decoder(CHANGE)

/**
 * JSON members `old_data` and `new_data` of a logged data change, without braces: lists of
 * `{"key":NAME,"value":[TYPE,VALUE]}`. U+0000 becomes a space, as in all attributes.
 * @param packed the two attribute maps one after the other, in the binary encoding of the action.
 * @throws DecodeError if the bytes are not two attribute maps.
 */
export function changedDataMembers(packed: Uint8Array): string {
  const text = JSON.stringify(abi.toJson(CHANGE, decode(packed)), (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', ' ') : value,
  )
  return text.slice(1, -1)
}
