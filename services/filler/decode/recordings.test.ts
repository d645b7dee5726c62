import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { abieosForm, describeWithAbieos } from '../../../tests/decode/abieos.ts'
import type { Abieos } from '../../../tests/decode/abieos.ts'
import { readRecording, recordingNames } from '../../../tests/decode/recordings.ts'
import type { Recording } from '../../../tests/decode/recordings.ts'
import { bytesToHex } from '../../core/bytes/index.ts'
import { compileAbi } from '../../core/antelope/decoder/index.ts'
import { normalizeAbiJson, parsePackedAbi } from '../../core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../core/antelope/decoder/index.ts'
import { packageRoot } from '../../core/paths/index.ts'
import { compileProtocol } from './protocol.ts'
import { createWatchSet } from './watch-set.ts'
import type { BlocksResult } from './result-reader.ts'
import type { Protocol } from './protocol.ts'
import type { ScannedRow } from './scanned.ts'
import type { WatchSet } from './watch-set.ts'

const setAbiType = compileAbi(
  normalizeAbiJson({
    structs: [
      {
        name: 'setabi',
        fields: [
          { name: 'account', type: 'name' },
          { name: 'abi', type: 'bytes' },
        ],
      },
    ],
  }),
).decoder<{ account: string; abi: Uint8Array }>('setabi')

function* blocksOf(protocol: Protocol, frames: readonly Buffer[]): Generator<BlocksResult> {
  for (const frame of frames) {
    const result = protocol.decodeResult(frame)
    if (result.kind === 'blocks') yield result
  }
}

/** A watch set of all accounts in the recordings, so that nothing is skipped. */
function accountsIn(recordings: readonly Recording[]): WatchSet {
  const names = new Set(['eosio'])
  for (const { shipAbi, frames } of recordings) {
    const protocol = compileProtocol(shipAbi)
    for (const { deltas } of blocksOf(protocol, frames)) {
      if (deltas === null) continue
      protocol.scanDeltas(deltas, createWatchSet([]), {
        row: () => undefined,
        account: (name) => void names.add(name),
      })
    }
  }
  return createWatchSet(names)
}

interface IndexLine {
  readonly variant?: number
  readonly head?: number
  readonly lib?: number
  readonly this?: { num: number; id: string } | null
  readonly prev?: { num: number; id: string } | null
}

describe.each(recordingNames)('recording %s', (name) => {
  const { shipAbi, frames } = readRecording(name)
  const protocol = compileProtocol(shipAbi)
  const watch = createWatchSet(['atomicassets', 'atomicmarket', 'delphioracle', 'eosio.token'])

  it('the decoded block numbers and block ids of a recording equal the values in its index file', () => {
    const file = join(packageRoot, 'tests/fixtures/recordings', name, 'index.ndjson')
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as IndexLine)
    expect(lines).toHaveLength(frames.length)
    lines.forEach((line, i) => {
      const result = protocol.decodeResult(frames[i]!)
      expect(result.kind).toBe(line.variant === undefined ? 'status' : 'blocks')
      if (result.kind === 'status') return
      expect([result.head.num, result.lib.num, result.this?.num]).toEqual([
        line.head,
        line.lib,
        line.this?.num,
      ])
      expect(bytesToHex(result.this!.id)).toBe(line.this!.id)
      if (line.prev) expect(bytesToHex(result.prev!.id).startsWith(line.prev.id)).toBe(true)
    })
  })

  it('scanned actions and rows of a recording equal the result of a full decoding', () => {
    const abi = compileAbi(shipAbi)
    const decodeTraces = abi.decoder<PlainTransaction[]>('transaction_trace[]', { exact: true })
    const decodeDeltas = abi.decoder<PlainDelta[]>('table_delta[]', { exact: true })
    const decodeRow = abi.decoder<[string, PlainRow]>('contract_row', { exact: true })
    let [actions, rows] = [0, 0]
    for (const { traces, deltas } of blocksOf(protocol, frames)) {
      if (traces !== null) {
        const expected = plainActions(decodeTraces(traces), watch)
        const scanned = protocol.collectActions(traces, watch).map((action) => ({
          sequence: action.globalSequence,
          id: bytesToHex(action.txid),
          account: action.account,
          name: action.name,
          data: bytesToHex(action.data),
          ordinals: [action.actionOrdinal, action.creatorActionOrdinal],
          authorization: action.authorizations(),
        }))
        expect(scanned).toEqual(expected)
        actions += scanned.length
      }
      if (deltas !== null) {
        const expected = decodeDeltas(deltas)
          .filter(([, delta]) => delta.name === 'contract_row')
          .flatMap(([, delta]) =>
            delta.rows.map((row) => ({ present: row.present, ...decodeRow(row.data)[1] })),
          )
          .filter((row) => watch.accounts.includes(row.code))
          .map((row) => ({ ...row, value: bytesToHex(row.value) }))
        const scanned: unknown[] = []
        protocol.scanDeltas(deltas, watch, { row: (row) => void scanned.push(plainRow(row)) })
        expect(scanned).toEqual(expected)
        rows += scanned.length
      }
    }
    expect(actions).toBeGreaterThan(200)
    expect(rows).toBeGreaterThan(200)
  })
})

type PlainTransaction = [string, { id: string; status: number; action_traces: [string, PlainAction][] }]
interface PlainAction {
  action_ordinal: number
  creator_action_ordinal: number
  receiver: string
  receipt: [string, { global_sequence: bigint }] | null
  act: {
    account: string
    name: string
    authorization: { actor: string; permission: string }[]
    data: Uint8Array
  }
}
type PlainDelta = [string, { name: string; rows: { present: boolean; data: Uint8Array }[] }]
interface PlainRow {
  code: string
  scope: string
  table: string
  primary_key: bigint
  payer: string
  value: Uint8Array
}

function plainActions(transactions: PlainTransaction[], watch: WatchSet) {
  return transactions
    .filter(([, { status }]) => status === 0)
    .flatMap(([, { id, action_traces }]) => action_traces.map(([, trace]) => ({ id, ...trace })))
    .filter(({ receipt, receiver, act }) => receipt !== null && receiver === act.account)
    .filter(
      ({ act: { account, name } }) =>
        watch.accounts.includes(account) || (account === 'eosio' && name === 'setabi'),
    )
    .map(({ id, receipt, act, action_ordinal, creator_action_ordinal }) => ({
      sequence: receipt![1].global_sequence,
      id,
      account: act.account,
      name: act.name,
      data: bytesToHex(act.data),
      ordinals: [action_ordinal, creator_action_ordinal],
      authorization: act.authorization,
    }))
    .sort((a, b) => Number(a.sequence - b.sequence))
}

function plainRow(row: ScannedRow) {
  const { present, code, scope, table, payer } = row
  return { present, code, scope, table, primary_key: row.primaryKey(), payer, value: bytesToHex(row.value) }
}

/**
 * Decodes with our decoder and with the native library (abieos), and compares. Updates the ABIs in force as the
 * recording sets them.
 */
class Comparison {
  compared = 0
  readonly #abieos: Abieos
  readonly #abis = new Map<string, CompiledAbi>()

  constructor(abieos: Abieos) {
    this.#abieos = abieos
  }

  setAbi(account: string, packed: Uint8Array): void {
    if (packed.length === 0) return
    this.#abis.set(account, compileAbi(parsePackedAbi(packed)))
    expect(this.#abieos.loadAbiHex(account, bytesToHex(packed))).toBe(true)
  }

  knows(account: string): boolean {
    return this.#abis.has(account)
  }

  action(account: string, name: string, data: Uint8Array): void {
    this.#compare(account, this.#abis.get(account)?.actionType(name), data)
  }

  row(account: string, table: string, value: Uint8Array): void {
    this.#compare(account, this.#abis.get(account)?.tableType(table), value)
  }

  #compare(account: string, type: string | undefined, data: Uint8Array): void {
    const abi = this.#abis.get(account)
    if (abi === undefined || type === undefined) return
    // Some recorded actions have more bytes than their arguments take. Contracts ignore these bytes.
    const value = abi.decodeType(type, data)
    const form = abieosForm(abi.types.resolve(type), value)
    expect(this.#abieos.hexToJson(account, type, bytesToHex(data))).toEqual(form)
    if (!hasBrokenText(form)) expect(bytesToHex(data)).toContain(bytesToHex(abi.encoder(type)(value)))
    this.compared++
  }
}

// Whether a value contains text that is not UTF-8. Such text cannot be packed again: the native library returns
// question marks for the bytes.
function hasBrokenText(form: unknown): boolean {
  return JSON.stringify(form).includes('?')
}

function compareRecording({ shipAbi, frames }: Recording, watch: WatchSet, comparison: Comparison): void {
  const protocol = compileProtocol(shipAbi)
  for (const { traces, deltas } of blocksOf(protocol, frames)) {
    for (const action of traces === null ? [] : protocol.collectActions(traces, watch)) {
      comparison.action(action.account, action.name, action.data)
      if (action.account !== 'eosio' || action.name !== 'setabi') continue
      const { account, abi } = setAbiType(action.data)
      comparison.setAbi(account, abi)
    }
    const rows: ScannedRow[] = []
    const sink = {
      row: (row: ScannedRow) => void rows.push(row.copy()),
      account: (name: string, abi: Uint8Array) => {
        if (!comparison.knows(name)) comparison.setAbi(name, abi)
      },
    }
    if (deltas !== null) protocol.scanDeltas(deltas, watch, sink)
    for (const row of rows) comparison.row(row.code, row.table, row.value)
  }
}

describeWithAbieos('recordings compared with the native library', (abieos) => {
  it('the decoder and the native library (abieos) return the same values for recordings main and v2', () => {
    const recordings = [readRecording('main'), readRecording('v2')]
    const watch = accountsIn(recordings)
    const comparison = new Comparison(abieos)
    for (const recording of recordings) compareRecording(recording, watch, comparison)
    expect(comparison.compared).toBe(8577)
  })

  it('the decoder and the native library (abieos) return the same values for recording fork', () => {
    const recording = readRecording('fork')
    const comparison = new Comparison(abieos)
    compareRecording(recording, accountsIn([recording]), comparison)
    expect(comparison.compared).toBe(928)
  })
})
