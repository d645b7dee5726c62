import { bytesToHex } from '../../core/bytes/index.ts'
import { belowHistory, LateRows, Refusal } from '../answers/index.ts'
import { keyOf, resolveBlock } from '../chain/index.ts'
import { abiText, requireAbi, requirePacked, rowDecoderAt } from './abi-at.ts'
import type { ReadBlock } from './abi-at.ts'
import { endpoint } from './endpoint.ts'
import type { StateParts } from './endpoint.ts'
import { blockNum, flag, hexRows, name } from './parameter.ts'
import { abiOrHex, blockNumber, listOf, object, textValue } from './schemas.ts'

const account = name('Contract account.')

/**
 * The block of an ABI request.
 * @throws Refusal 400 if the block is not indexed.
 */
async function blockOf({ positions }: StateParts, requested: bigint | undefined): Promise<ReadBlock> {
  // The requested block may be above the cached position; the position is then read again. A number above 32 bits is no
  // block number, and must not cause a read of the position.
  const atLeast = requested !== undefined && requested <= 0xffff_ffffn ? Number(requested) : 0
  const position = await positions.get(atLeast)
  const block = resolveBlock(requested, position)
  if (block < position.startBlock) throw belowHistory(block, position.startBlock, position.head.num)
  return { position, block }
}

/** `GET /v0/state/abi`. */
export const abi = endpoint({
  path: '/v0/state/abi',
  methods: ['GET'],
  summary: 'The ABI of a contract at a block',
  description:
    '`block_num` of the answer is the block that set the ABI. If a block sets several ABIs, the last of them is in ' +
    'force at the end of the block. If the ABI was set before the first indexed block, `block_num` is the first ' +
    'indexed block, and `in_force` is `at_or_before`.',
  tag: 'ABIs',
  needsToken: true,
  body: 'none',
  parameters: {
    account,
    block_num: blockNum,
    json: flag('Return the ABI as JSON instead of packed in hexadecimal.'),
  },
  answer: object(
    {
      block_num: {
        ...blockNumber,
        description: 'Block that set the ABI, or the first indexed block with `in_force`',
      },
      account: textValue,
      abi: abiOrHex,
      in_force: { const: 'at_or_before', description: 'Present if the block that set the ABI is unknown' },
    },
    ['in_force'],
  ),
  refusals: [
    'app_block_num_higher_than_head_block_error',
    'app_block_num_not_indexed_error',
    'data_abi_not_found_error',
    'data_decoding_abi_error',
  ],
  async run(values, parts) {
    const version = await requireAbi(parts, values.account, await blockOf(parts, values.block_num))
    const key = `${keyOf(version)}/${version.set}/${String(values.json)}`
    const cached = parts.bodies.get(key)
    if (cached) return cached
    const packed = await requirePacked(parts, version)
    const content = values.json ? abiText(packed, version) : JSON.stringify(bytesToHex(packed))
    const note = version.set === 'at' ? '' : ',"in_force":"at_or_before"'
    const body = Buffer.from(
      `{"block_num":${version.block},"account":${JSON.stringify(values.account)},"abi":${content}${note}}`,
    )
    parts.bodies.set(key, body, { size: body.length + 200 })
    return body
  },
})

/** `POST /v0/state/abi/bin_to_json`. */
export const binToJson = endpoint({
  path: '/v0/state/abi/bin_to_json',
  methods: ['POST'],
  summary: 'Packed rows decoded with the ABI in force at a block',
  description: 'Works for every contract. If one row does not fit the ABI, the whole request fails.',
  tag: 'ABIs',
  needsToken: true,
  body: 'json',
  parameters: {
    account,
    table: name('Table.'),
    hex_rows: hexRows('Packed rows in hexadecimal.'),
    block_num: blockNum,
  },
  answer: object({
    block_num: { ...blockNumber, description: 'Block that set the ABI' },
    account: textValue,
    table: textValue,
    rows: listOf({}),
  }),
  refusals: [
    'app_block_num_higher_than_head_block_error',
    'app_block_num_not_indexed_error',
    'data_abi_not_found_error',
    'data_table_not_found_error',
    'data_decoding_table_row_error',
  ],
  async run(values, parts) {
    const at = await blockOf(parts, values.block_num)
    const { decoder, version } = await rowDecoderAt(parts, values, at)
    const keys = { account: values.account, table: values.table, block_num: at.block }
    if (!decoder.isNamed) {
      const message = `The ABI of account '${values.account}' has no table '${values.table}'.`
      throw new Refusal(400, 'data_table_not_found_error', message, { details: keys })
    }
    const rows = LateRows.of(
      values.hex_rows,
      ({ length }) => length,
      async (some) => {
        const contents = await decoder.decode(some)
        return contents.map((content, i) => {
          if ('json' in content) return content.json
          throw new Refusal(
            400,
            'data_decoding_table_row_error',
            `A row cannot be decoded: ${content.error}`,
            {
              details: { ...keys, hex_row: bytesToHex(some[i]!) },
            },
          )
        })
      },
    )
    return { block_num: version.block, account: values.account, table: values.table, rows }
  },
})
