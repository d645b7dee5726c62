import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import type { Recording } from '../decode/recordings.ts'

/** An ABI of a setabi action. */
export interface RecordedAbi {
  readonly block: number
  readonly account: string
  /** Packed ABI, in hexadecimal. */
  readonly hex: string
}

type Variant = [string, Record<string, unknown>]

/** Decodes every executed `eosio::setabi` of a recording with the generic decoder. */
export function readSetAbis({ shipAbi, frames }: Recording): RecordedAbi[] {
  const abi = compileAbi(shipAbi)
  return frames.slice(1).flatMap((frame) => {
    const [, result] = abi.decodeType('result', frame) as Variant
    const position = result['this_block'] as { block_num: number } | null
    const traces = result['traces'] as Uint8Array | null
    if (position === null || traces === null) return []
    return (abi.decodeType('transaction_trace[]', traces) as Variant[]).flatMap(([, transaction]) =>
      transaction['status'] !== 0
        ? []
        : (transaction['action_traces'] as Variant[]).flatMap(([, action]) =>
            readSetAbi(position.block_num, action),
          ),
    )
  })
}

function readSetAbi(block: number, action: Record<string, unknown>): RecordedAbi[] {
  const act = action['act'] as { account: string; name: string; data: Uint8Array }
  if (act.account !== 'eosio' || act.name !== 'setabi' || action['receiver'] !== 'eosio') return []
  const { account, abi } = setAbiAction.decodeType('setabi', act.data) as { account: string; abi: Uint8Array }
  return [{ block, account, hex: Buffer.from(abi).toString('hex') }]
}

const setAbiAction = compileAbi({
  version: 'eosio::abi/1.1',
  types: [],
  structs: [
    {
      name: 'setabi',
      base: '',
      fields: [
        { name: 'account', type: 'name' },
        { name: 'abi', type: 'bytes' },
      ],
    },
  ],
  actions: [],
  tables: [],
  ricardian_clauses: [],
  error_messages: [],
  abi_extensions: [],
  variants: [],
  action_results: [],
})
