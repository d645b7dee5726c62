import { slotOf, slotToMs } from '../chain/index.ts'
import type { Chain, ChainAccount } from '../chain/index.ts'
import { nameText, sha256 } from '../runtime/index.ts'
import { ChainApiError, unknownAccount } from './errors.ts'
import { nameParam, textParam } from './params.ts'
import type { Params } from './params.ts'
import { TableQueries } from './tables.ts'

/** Answers a request of the chain API. The map key is the last part of `/v1/chain/<key>`. */
export type Answer = (params: Params) => unknown

const noHash = '0'.repeat(64)

/** Handlers of all supported chain API requests. */
export function chainAnswers(chain: Chain, chainId: string): ReadonlyMap<string, Answer> {
  const tables = new TableQueries(chain.state)
  const account = (params: Params): ChainAccount => {
    const found = chain.state.accounts.get(nameParam(params, 'account_name'))
    if (found === undefined) throw unknownAccount(textParam(params, 'account_name'))
    return found
  }
  return new Map<string, Answer>([
    ['get_info', () => chainInfo(chain, chainId)],
    ['get_abi', (params) => abiOf(tables, account(params))],
    ['get_raw_abi', (params) => rawAbiOf(account(params))],
    ['get_table_rows', (params) => tables.rows(params)],
    ['get_table_by_scope', (params) => tables.scopes(params)],
    ['get_block_info', (params) => blockInfo(chain, params)],
  ])
}

function chainInfo(chain: Chain, chainId: string): unknown {
  const { head, lib } = chain
  return {
    server_version: '00000000',
    chain_id: chainId,
    head_block_num: head.num,
    last_irreversible_block_num: lib.num,
    last_irreversible_block_id: lib.id.toString('hex'),
    head_block_id: head.id.toString('hex'),
    head_block_time: timeOf(chain, head.num),
    head_block_producer: 'eosio',
    virtual_block_cpu_limit: 200_000,
    virtual_block_net_limit: 1_048_576,
    block_cpu_limit: 200_000,
    block_net_limit: 1_048_576,
    server_version_string: 'devchain',
    fork_db_head_block_num: head.num,
    fork_db_head_block_id: head.id.toString('hex'),
    server_full_version_string: 'devchain',
    total_cpu_weight: 0,
    total_net_weight: 0,
    earliest_available_block_num: chain.first,
    last_irreversible_block_time: timeOf(chain, lib.num),
  }
}

function abiOf(tables: TableQueries, account: ChainAccount): unknown {
  const known = tables.abis.find(account.name)
  const name = nameText(account.name)
  return known === undefined ? { account_name: name } : { account_name: name, abi: known.definition }
}

function rawAbiOf(account: ChainAccount): unknown {
  return {
    account_name: nameText(account.name),
    code_hash: account.codeHash?.toString('hex') ?? noHash,
    abi_hash: account.abi.length === 0 ? noHash : sha256(account.abi).toString('hex'),
    abi: account.abi.toString('base64'),
  }
}

function blockInfo(chain: Chain, params: Params): unknown {
  const num = Number(params['block_num'])
  const block = Number.isInteger(num) ? chain.at(num) : undefined
  if (block === undefined) {
    throw new ChainApiError(
      400,
      3_100_002,
      'unknown_block_exception',
      `Could not find block: ${String(params['block_num']).slice(0, 20)}`,
    )
  }
  return {
    block_num: num,
    id: block.id.toString('hex'),
    previous: block.prevId?.toString('hex') ?? noHash,
    timestamp: timeOf(chain, num),
    producer: 'eosio',
    ref_block_num: num & 0xffff,
    ref_block_prefix: block.id.readUInt32LE(8),
  }
}

function timeOf(chain: Chain, num: number): string {
  const block = chain.at(num)
  return new Date(block === undefined ? 0 : slotToMs(slotOf(block))).toISOString().slice(0, -1)
}
