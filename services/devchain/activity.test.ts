import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Abieos } from '@eosrio/node-abieos'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  blocksFrom,
  contractRowsOf,
  deltasOf,
  dumpTables,
  shipAbiText,
  signedBlockOf,
  transactionsOf,
} from '../../tests/devchain/chain-blocks.ts'
import type { DecodedAction } from '../../tests/devchain/chain-blocks.ts'
import { compileAbi } from '../core/antelope/decoder/index.ts'
import { normalizeAbiJson } from '../core/antelope/abi/index.ts'
import { parseAsset } from '../core/antelope/index.ts'
import type { CompiledAbi } from '../core/antelope/decoder/index.ts'
import { createDevchain } from './devchain.ts'
import type { ChainBlock } from './chain/index.ts'
import type { Devchain } from './devchain.ts'

const FIRST_GENERATED = 965
const contracts = [
  'atomicassets',
  'atomicmarket',
  'atomictoolsx',
  'delphioracle',
  'eosio',
  'eosio.token',
  'karmatoken',
]
const everything = { blocks: 600, rate: 8, seed: 7 }
const open: Devchain[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.stop()
})

async function httpOf(devchain: Devchain): Promise<string> {
  open.push(devchain)
  return (await devchain.start()).httpUrl
}

/** Reads every row of a table through the chain API. */
async function rowsOf(
  url: string,
  code: string,
  table: string,
  scope = code,
): Promise<Record<string, unknown>[]> {
  const body = JSON.stringify({ code, scope, table, json: true, limit: 5000 })
  const response = await fetch(`${url}/v1/chain/get_table_rows`, { method: 'POST', body })
  return ((await response.json()) as { rows: Record<string, unknown>[] }).rows
}

async function abisOf(url: string): Promise<Map<string, CompiledAbi>> {
  const entries = contracts.map(async (account): Promise<[string, CompiledAbi]> => {
    const response = await fetch(`${url}/v1/chain/get_abi?account_name=${account}`)
    const { abi } = (await response.json()) as { abi: unknown }
    return [account, compileAbi(normalizeAbiJson(abi))]
  })
  return new Map(await Promise.all(entries))
}

describe('generated blocks', () => {
  const devchain = createDevchain(everything)
  const blocks = blocksFrom(devchain, FIRST_GENERATED)
  const transactions = blocks.map(transactionsOf)
  const actions = transactions.flat().flatMap((transaction) => transaction.actions)
  let abis: Map<string, CompiledAbi>

  beforeAll(async () => {
    abis = await abisOf((await devchain.start()).httpUrl)
    await devchain.stop()
  })

  test('generated blocks continue the recorded chain with one block in each time slot; a block id contains the block number and the header hash', () => {
    blocks.forEach((block, index) => {
      const signed = signedBlockOf(block)
      const before = devchain.block(block.num - 1)!
      expect(block.num).toBe(FIRST_GENERATED + index)
      expect(block.prevId?.equals(before.id)).toBe(true)
      expect(signed['previous']).toBe(before.id.toString('hex'))
      expect(block.block!.readUInt32LE(0)).toBe(before.block!.readUInt32LE(0) + 1)
      const digest = createHash('sha256').update(block.block!.subarray(0, 116)).digest()
      expect(block.id.readUInt32BE(0)).toBe(block.num)
      expect(block.id.subarray(4).equals(digest.subarray(4))).toBe(true)
    })
  })

  test('generated blocks list each transaction with an id that is the hash of its bytes', () => {
    for (const [index, block] of blocks.entries()) {
      const receipts = signedBlockOf(block)['transactions'] as { trx: [string, { packed_trx: Uint8Array }] }[]
      const ids = receipts.map(({ trx }) => createHash('sha256').update(trx[1].packed_trx).digest('hex'))
      expect(ids).toEqual(transactions[index]!.slice(1).map(({ id }) => id))
    }
    const all = transactions.flat().map(({ id }) => id)
    expect(new Set(all).size).toBe(all.length)
  })

  test('actions in generated blocks have ordinals in creation order and global sequences in depth-first order', () => {
    let outOfOrder = 0
    for (const { actions: traces } of transactions.flat()) {
      expect(traces.map((trace) => trace.action_ordinal)).toEqual(traces.map((_, index) => index + 1))
      for (const trace of traces) expect(trace.creator_action_ordinal).toBeLessThan(trace.action_ordinal)
      const executed = executionOrder(traces)
      const sequences = executed.map((trace) => trace.receipt[1].global_sequence)
      expect(sequences).toEqual(sequences.map((_, index) => sequences[0]! + BigInt(index)))
      if (executed.some((trace, index) => trace !== traces[index])) outOfOrder++
    }
    expect(outOfOrder).toBeGreaterThan(0)
  })

  test('generated blocks continue the sequences of the recorded chain without a gap', () => {
    const recorded = blocksFrom(devchain, 2).filter(({ num }) => num < FIRST_GENERATED)
    const known = new Map<string, bigint>()
    const note = (key: string, value: bigint): void => {
      if (value > (known.get(key) ?? 0n)) known.set(key, value)
    }
    for (const trace of recorded.flatMap(transactionsOf).flatMap((each) => each.actions)) {
      const receipt = (trace.receipt as DecodedAction['receipt'] | null)?.[1]
      if (receipt === undefined) continue
      note('global', receipt.global_sequence)
      note(`recv ${receipt.receiver}`, receipt.recv_sequence)
      for (const { account, sequence } of receipt.auth_sequence) note(`auth ${account}`, sequence)
    }
    const inOrder = actions.toSorted((a, b) =>
      Number(a.receipt[1].global_sequence - b.receipt[1].global_sequence),
    )
    for (const { receipt } of inOrder) {
      const [, { global_sequence: global, receiver, recv_sequence: recv, auth_sequence: auth }] = receipt
      const steps: [string, bigint][] = [
        ['global', global],
        [`recv ${receiver}`, recv],
        ...auth.map((each): [string, bigint] => [`auth ${each.account}`, each.sequence]),
      ]
      for (const [key, value] of steps) {
        expect(value).toBe((known.get(key) ?? 0n) + 1n)
        known.set(key, value)
      }
    }
  })

  test('the ABIs in force decode all bytes of action data and table rows in generated blocks', () => {
    for (const { act } of actions) {
      const abi = abis.get(act.account)
      // Skip actions of `eosio`: the node defines the layout of native actions, not the account's ABI.
      if (abi === undefined || act.account === 'eosio') continue
      abi.decoder(abi.actionType(act.name)!, { exact: true })(act.data)
    }
    for (const row of blocks.flatMap(contractRowsOf)) {
      const abi = abis.get(row.code)!
      abi.decoder(abi.tableType(row.table)!, { exact: true })(row.value)
    }
    expect(actions.length).toBeGreaterThan(3000)
  })

  test('generated blocks contain each of the expected contract actions', () => {
    const names = new Set(actions.map(({ act }) => `${act.account}::${act.name}`))
    const assets = [
      ...['createcol', 'createschema', 'extendschema', 'createtempl', 'createtempl2', 'settempldata'],
      ...['deltemplate', 'mintasset', 'transfer', 'setassetdata', 'burnasset', 'setmarketfee', 'setcoldata'],
      ...['createoffer', 'acceptoffer', 'declineoffer', 'canceloffer'],
      ...[
        'logmint',
        'logtransfer',
        'lognewoffer',
        'lognewtempl',
        'logsetdata',
        'logsetdatatl',
        'logburnasset',
      ],
    ].map((name) => `atomicassets::${name}`)
    const market = [
      ...['announcesale', 'lognewsale', 'logsalestart', 'purchasesale', 'cancelsale', 'paysaleram'],
      ...['announceauct', 'lognewauct', 'logauctstart', 'auctionbid', 'auctclaimbuy', 'auctclaimsel'],
      ...['cancelauct', 'payauctram', 'createbuyo', 'lognewbuyo', 'acceptbuyo', 'declinebuyo', 'cancelbuyo'],
      ...['paybuyoram', 'createtbuyo', 'lognewtbuyo', 'fulfilltbuyo', 'canceltbuyo', 'withdraw', 'regmarket'],
      ...['addbonusfee', 'stopbonusfee', 'delbonusfee', 'adddelphi', 'setversion', 'setroyalconf'],
      ...['settemplroy', 'setattrroy', 'logroyfound', 'logroydust', 'logroytempl', 'logroyattr'],
    ].map((name) => `atomicmarket::${name}`)
    const tools = ['init', 'announcelink', 'lognewlink', 'loglinkstart', 'claimlink', 'cancellink'].map(
      (name) => `atomictoolsx::${name}`,
    )
    const others = [
      ...['delphioracle::newbounty', 'delphioracle::votebounty', 'delphioracle::write'],
      ...['eosio.token::transfer', 'karmatoken::transfer'],
      ...['eosio::newaccount', 'eosio::setcode', 'eosio::setabi', 'eosio::onblock'],
    ]
    const expected = [...assets, ...market, ...tools, ...others]
    expect(expected.filter((name) => !names.has(name))).toEqual([])
  })

  test('generated blocks list the removed rows of a block together, and each row change only once', () => {
    for (const rows of blocks.map(contractRowsOf)) {
      const firstRemoved = rows.findIndex((row) => !row.present)
      const lastRemoved = rows.findLastIndex((row) => !row.present)
      if (firstRemoved !== -1) {
        expect(rows.slice(firstRemoved, lastRemoved + 1).every((row) => !row.present)).toBe(true)
      }
      const key = (row: (typeof rows)[number]): string =>
        [row.present, row.code, row.scope, row.table, row.primary_key].join()
      expect(new Set(rows.map(key)).size).toBe(rows.length)
    }
  })

  test('the table deltas of generated blocks list a new account in the same tables as the table deltas of nodeos', () => {
    const withAccounts = blocks.map(deltasOf).filter((deltas) => deltas.has('account'))
    expect(withAccounts.length).toBeGreaterThan(0)
    for (const deltas of withAccounts) {
      const names = deltas.get('account')!.map(({ row }) => row['name'])
      const created = new Set(deltas.get('permission')?.map(({ row }) => row['owner']))
      expect(deltas.get('account_metadata')!.map(({ row }) => row['name'])).toEqual(names)
      expect(deltas.get('permission')?.length ?? 0).toBe(created.size * 2)
      const deployed = names.filter((name) => !created.has(name))
      expect(deltas.get('code')?.length ?? 0).toBe(deployed.length)
    }
  })

  test('generated blocks deploy contracts with the right code hash, and with ABIs that the chain API uses to decode rows', async () => {
    const url = await httpOf(devchain)
    const rows = blocks.flatMap((block) => deltasOf(block).get('code') ?? [])
    for (const { row } of rows) {
      const { code, code_hash: hash } = row as { code: Uint8Array; code_hash: string }
      expect(createHash('sha256').update(code).digest('hex')).toBe(hash)
    }
    expect(rows).toHaveLength(3)
    for (const [account, table] of [
      ['atomicmarket', 'royaltyconf'],
      ['atomictoolsx', 'links'],
    ] as const) {
      expect(abis.get(account)!.tableType(table)).toBeDefined()
      const body = JSON.stringify({ code: account, scope: account, table, json: true, limit: 3 })
      const response = await fetch(`${url}/v1/chain/get_table_rows`, { method: 'POST', body })
      const answer = (await response.json()) as { rows: Record<string, unknown>[] }
      expect(answer.rows.length).toBeGreaterThan(0)
    }
  })

  test('the tokens that the market contract owes to users add up to the token balance of the contract', async () => {
    const url = await httpOf(devchain)
    const owed = new Map<string, bigint>()
    const owe = (quantity: string): void => {
      const { amount, symbol } = parseAsset(quantity)
      owed.set(symbol, (owed.get(symbol) ?? 0n) + amount)
    }
    for (const row of await rowsOf(url, 'atomicmarket', 'balances')) {
      for (const quantity of row['quantities'] as string[]) owe(quantity)
    }
    for (const table of ['buyoffers', 'tbuyoffers']) {
      for (const row of await rowsOf(url, 'atomicmarket', table)) owe(row['price'] as string)
    }
    for (const row of await rowsOf(url, 'atomicmarket', 'auctions')) {
      if (row['current_bidder'] !== '' && row['claimed_by_seller'] !== 1) owe(row['current_bid'] as string)
    }
    for (const [token, symbol] of [
      ['eosio.token', 'WAX'],
      ['karmatoken', 'KARMA'],
    ] as const) {
      const [row] = await rowsOf(url, token, 'accounts', 'atomicmarket')
      expect(parseAsset(row!['balance'] as string).amount).toBe(owed.get(symbol))
    }
  })

  test('the decoder and the native library (abieos) read the same transactions from generated blocks', () => {
    const require = createRequire(import.meta.url)
    const library = require('@eosrio/node-abieos') as { Abieos: typeof Abieos }
    const native = library.Abieos.getInstance()
    native.loadAbi('ship', shipAbiText)
    for (const [index, block] of blocks.entries()) {
      const hex = block.traces!.toString('hex')
      const traces = native.hexToJson('ship', 'transaction_trace[]', hex) as [string, { id: string }][]
      expect(traces.map(([, { id }]) => id.toLowerCase())).toEqual(transactions[index]!.map(({ id }) => id))
      native.hexToJson('ship', 'table_delta[]', block.deltas!.toString('hex'))
      native.hexToJson('ship', 'signed_block', block.block!.toString('hex'))
    }
  })

  test('a second chain that applies only the table deltas of generated blocks has the same tables as the first chain', async () => {
    const replayed = createDevchain()
    for (const block of blocks) replayed.append(block)
    const tables = await dumpTables(await httpOf(replayed), contracts)
    expect(tables).toBe(await dumpTables(await httpOf(devchain), contracts))
    expect(tables.length).toBeGreaterThan(100_000)
  })
})

test('the same seed gives the same chain, another seed a different chain', () => {
  const ids = (seed: number): string[] => {
    const devchain = createDevchain({ blocks: 60, seed, forks: 0.2, libLagBlocks: 10 })
    return blocksFrom(devchain, 960).map((block) => block.id.toString('hex'))
  }
  expect(ids(5)).toEqual(ids(5))
  expect(ids(5)).not.toEqual(ids(6))
})

test('a chain without the second contract version contains no actions of that version', () => {
  const devchain = createDevchain({ recordings: ['main'], blocks: 150, rate: 10 })
  const names = new Set(
    blocksFrom(devchain, 847).flatMap((block: ChainBlock) =>
      transactionsOf(block).flatMap(({ actions }) => actions.map(({ act }) => act.name)),
    ),
  )
  expect(names.has('logmint')).toBe(true)
  expect(['createtempl2', 'settempldata', 'deltemplate'].filter((name) => names.has(name))).toEqual([])
})

test('startTimeMs fixes the times of generated blocks', () => {
  const startTimeMs = Date.UTC(2030, 0, 1)
  const devchain = createDevchain({ blocks: 3, startTimeMs, live: {} })
  const times = blocksFrom(devchain, FIRST_GENERATED).map((block) => signedBlockOf(block)['timestamp'])
  expect(times).toEqual(['2030-01-01T00:00:00.000', '2030-01-01T00:00:00.500', '2030-01-01T00:00:01.000'])
})

/**
 * Order of execution of an action and its descendants: first the action, then the accounts that the action notified,
 * then the inline actions of all these receivers. The descendants of an inline action are executed before the next
 * inline action.
 */
function executionOrder(traces: readonly DecodedAction[]): DecodedAction[] {
  const childrenOf = (ordinal: number): DecodedAction[] =>
    traces.filter((trace) => trace.creator_action_ordinal === ordinal)
  const isNotified = ({ receiver, act }: DecodedAction): boolean => receiver !== act.account
  const run = (trace: DecodedAction): DecodedAction[] => {
    const receivers = [trace]
    for (const each of receivers) receivers.push(...childrenOf(each.action_ordinal).filter(isNotified))
    const inline = receivers
      .flatMap((each) => childrenOf(each.action_ordinal))
      .filter((each) => !isNotified(each))
    return [...receivers, ...inline.flatMap(run)]
  }
  return childrenOf(0).flatMap(run)
}
