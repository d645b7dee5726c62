import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import type { ChainBlock, Devchain } from '../../services/devchain/index.ts'

const shipAbiFile = join(packageRoot, 'services/devchain/recordings/main/ship-abi.json')

/** The protocol ABI of the recordings. */
export const shipAbiText = readFileSync(shipAbiFile, 'utf8')

const shipAbi = compileAbi(normalizeAbiJson(JSON.parse(shipAbiText)))

export interface DecodedAction {
  readonly action_ordinal: number
  readonly creator_action_ordinal: number
  readonly receipt: [string, DecodedReceipt]
  readonly receiver: string
  readonly act: { account: string; name: string; authorization: { actor: string }[]; data: Uint8Array }
  readonly account_ram_deltas: { account: string; delta: bigint }[]
}

export interface DecodedReceipt {
  readonly receiver: string
  readonly act_digest: string
  readonly global_sequence: bigint
  readonly recv_sequence: bigint
  readonly auth_sequence: { account: string; sequence: bigint }[]
  readonly abi_sequence: number
}

export interface DecodedTransaction {
  readonly id: string
  readonly status: number
  readonly actions: DecodedAction[]
}

export interface DecodedRow {
  readonly present: boolean
  readonly code: string
  readonly scope: string
  readonly table: string
  readonly primary_key: bigint
  readonly payer: string
  readonly value: Uint8Array
}

/** Transactions of a block, decoded by the protocol ABI to the last byte. */
export function transactionsOf(block: ChainBlock): DecodedTransaction[] {
  const decode = shipAbi.decoder<[string, Record<string, unknown>][]>('transaction_trace[]', { exact: true })
  return decode(block.traces!).map(([, trace]) => ({
    id: trace['id'] as string,
    status: trace['status'] as number,
    actions: (trace['action_traces'] as [string, DecodedAction][]).map(([, action]) => action),
  }))
}

/** Table deltas of a block by table name, rows decoded by the protocol ABI to the last byte. */
export function deltasOf(
  block: ChainBlock,
): Map<string, { present: boolean; row: Record<string, unknown> }[]> {
  const decode = shipAbi.decoder<
    [string, { name: string; rows: { present: boolean; data: Uint8Array }[] }][]
  >('table_delta[]', { exact: true })
  return new Map(
    decode(block.deltas!).map(([, table]) => {
      const decodeRow = shipAbi.decoder<[string, Record<string, unknown>]>(table.name, { exact: true })
      return [table.name, table.rows.map(({ present, data }) => ({ present, row: decodeRow(data)[1] }))]
    }),
  )
}

/** Contract rows of a block in the order of its deltas. */
export function contractRowsOf(block: ChainBlock): DecodedRow[] {
  const rows = deltasOf(block).get('contract_row') ?? []
  return rows.map(({ present, row }) => ({ ...(row as unknown as Omit<DecodedRow, 'present'>), present }))
}

/** Decodes the `signed_block` of a block; fails if bytes are left over. */
export function signedBlockOf(block: ChainBlock): Record<string, unknown> {
  return shipAbi.decoder<Record<string, unknown>>('signed_block', { exact: true })(block.block!)
}

/** Blocks of a devchain from `first` to its head. */
export function blocksFrom(devchain: Devchain, first: number): ChainBlock[] {
  const blocks: ChainBlock[] = []
  for (let num = first; num <= devchain.head().num; num++) blocks.push(devchain.block(num)!)
  return blocks
}

/** Reads every row of every table of the contracts through the chain API. */
export async function dumpTables(httpUrl: string, codes: readonly string[]): Promise<string> {
  const ask = async (request: string, body: unknown): Promise<{ rows: Record<string, unknown>[] }> => {
    const response = await fetch(`${httpUrl}/v1/chain/${request}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    return (await response.json()) as { rows: Record<string, unknown>[] }
  }
  const lines: string[] = []
  for (const code of codes) {
    const { rows: tables } = await ask('get_table_by_scope', { code, limit: 5000 })
    for (const { scope, table } of tables) {
      const query = { code, scope, table, limit: 5000, show_payer: true }
      lines.push(JSON.stringify([code, table, scope, (await ask('get_table_rows', query)).rows]))
    }
  }
  return lines.join('\n')
}
