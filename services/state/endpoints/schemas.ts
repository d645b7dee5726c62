import type { Schema } from '../../core/endpoint/index.ts'

/** Schema of a block number (32 bits). */
export const blockNumber: Schema = { type: 'integer', minimum: 0 }
export const textValue: Schema = { type: 'string' }
export const blockId: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' }

/** JSON schema of an object. All members are required, except the members in `optional`. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
  title?: string,
): Schema {
  return {
    ...(title === undefined ? {} : { title }),
    type: 'object',
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  }
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items }
}

const field = object({ name: textValue, type: textValue })

/** Schema of an ABI as JSON. */
const abiSchema: Schema = object(
  {
    version: textValue,
    types: listOf(object({ new_type_name: textValue, type: textValue })),
    structs: listOf(object({ name: textValue, base: textValue, fields: listOf(field) })),
    actions: listOf(object({ name: textValue, type: textValue, ricardian_contract: textValue })),
    tables: listOf(
      object({
        name: textValue,
        type: textValue,
        index_type: textValue,
        key_names: listOf(textValue),
        key_types: listOf(textValue),
      }),
    ),
    ricardian_clauses: listOf(object({ id: textValue, body: textValue })),
    error_messages: listOf(object({ error_code: textValue, error_msg: textValue })),
    abi_extensions: listOf(object({ tag: { type: 'integer' }, value: textValue })),
    variants: listOf(object({ name: textValue, types: listOf(textValue) })),
    action_results: listOf(object({ name: textValue, result_type: textValue })),
  },
  [],
  'Abi',
)

/** Schema of an ABI, as JSON or packed in hexadecimal. */
export const abiOrHex: Schema = {
  oneOf: [
    abiSchema,
    { type: 'string', pattern: '^([0-9a-f]{2})*$', description: 'The packed ABI in hexadecimal' },
  ],
}

/** JSON schema of a table row in a response. */
export const rowSchema: Schema = object(
  {
    key: { type: 'string', description: 'Primary key, in the form of `key_type`' },
    payer: { type: 'string', description: 'Account that pays for the RAM of the row' },
    json: { description: 'The decoded row; present with `json=true` if an ABI fits the row' },
    hex: {
      type: 'string',
      description: 'The packed row; present without `json=true`, or if the row cannot be decoded',
    },
    error: { type: 'string', description: 'Reason why the row cannot be decoded' },
    block: { ...blockNumber, description: 'Block that wrote the row; present with `with_block_num=true`' },
  },
  ['json', 'hex', 'error', 'block'],
  'Row',
)

/** Members of every response about the state at a block. */
export const commonMembers: Readonly<Record<string, Schema>> = {
  up_to_block_id: {
    ...blockId,
    description: 'The block whose state is returned; present if a fork can still undo the block',
  },
  up_to_block_num: blockNumber,
  last_irreversible_block_id: blockId,
  last_irreversible_block_num: blockNumber,
}

/** Members of {@link commonMembers} that may be absent. */
export const optionalCommon: readonly string[] = ['up_to_block_id', 'up_to_block_num']
