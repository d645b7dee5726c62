/**
 * Measures what the filler does with a block before anything is stored: stepping over a block that is full
 * of a foreign token's transfers, reading result frames, and decoding rows and actions with compiled
 * decoders. Run after `npm run build`: `node dist/scripts/bench/decode.js`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { AbiDefinition } from '../../services/core/antelope/abi/index.ts'
import type { CompiledAbi } from '../../services/core/antelope/decoder/index.ts'
import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import { nameToBigInt } from '../../services/core/antelope/index.ts'
import { normalizeAbiJson, parsePackedAbi } from '../../services/core/antelope/abi/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import type { Protocol } from '../../services/filler/index.ts'
import { compileProtocol, createWatchSet } from '../../services/filler/index.ts'

const recordings = join(packageRoot, 'services', 'devchain', 'recordings')
const transfersPerBlock = 378
const secondsPerFigure = 2

const shipAbi = normalizeAbiJson(JSON.parse(readFileSync(join(recordings, 'main', 'ship-abi.json'), 'utf8')))
const protocol = compileProtocol(shipAbi)
const watch = createWatchSet(['atomicassets', 'atomicmarket', 'atomictoolsx', 'delphioracle'])

function foreignTraces(abi: AbiDefinition): Uint8Array {
  const transactions = Array.from({ length: transfersPerBlock }, (_, i) => transferTrace(i))
  return compileAbi(abi).encoder('transaction_trace[]')(transactions)
}

const checksum = '11'.repeat(32)

function transferTrace(index: number): [string, unknown] {
  const account = 'eosio.token'
  const [from, to] = ['wam.trader', `player${'abcde'[index % 5]!}.wam`]
  const data = new DataView(new ArrayBuffer(33))
  data.setBigUint64(0, nameToBigInt(from), true)
  data.setBigUint64(8, nameToBigInt(to), true)
  const act = {
    account,
    name: 'transfer',
    authorization: [{ actor: from, permission: 'active' }],
    data: new Uint8Array(data.buffer),
  }
  const actions = [account, from, to].map((receiver, i) => [
    'action_trace_v1',
    {
      action_ordinal: i + 1,
      creator_action_ordinal: i === 0 ? 0 : 1,
      receipt: [
        'action_receipt_v0',
        {
          receiver,
          act_digest: checksum,
          global_sequence: 9_000_000_000n + BigInt(index * 3 + i),
          recv_sequence: 1_000_000n,
          auth_sequence: [{ account: from, sequence: 500n }],
          code_sequence: 12,
          abi_sequence: 8,
        },
      ],
      receiver,
      act,
      context_free: false,
      elapsed: 0,
      console: '',
      account_ram_deltas: [],
      except: null,
      error_code: null,
      return_value: new Uint8Array(0),
    },
  ])
  return [
    'transaction_trace_v0',
    {
      id: checksum,
      status: 0,
      cpu_usage_us: 300,
      net_usage_words: 16,
      elapsed: 0,
      net_usage: 128,
      scheduled: false,
      action_traces: actions,
      partial: [
        'partial_transaction_v0',
        {
          expiration: '2026-11-20T09:34:09',
          ref_block_num: 1,
          ref_block_prefix: 2,
          max_net_usage_words: 0,
          max_cpu_usage_ms: 0,
          delay_sec: 0,
          transaction_extensions: [],
          signatures: [],
          context_free_data: [],
        },
      ],
    },
  ]
}

/** Repeats `run` for a while after warming up and returns how often it ran per second. */
function rate(run: () => void): number {
  const times = (seconds: number): number => {
    const start = performance.now()
    let count = 0
    while (performance.now() - start < seconds * 1000) {
      run()
      count++
    }
    return count / ((performance.now() - start) / 1000)
  }
  times(secondsPerFigure / 2)
  return times(secondsPerFigure)
}

function print(what: string, figure: number, unit: string): void {
  process.stdout.write(`${what.padEnd(52)} ${figure.toFixed(figure < 10 ? 2 : 0).padStart(12)} ${unit}\n`)
}

function framesOf(recording: string): Buffer[] {
  const raw = gunzipSync(readFileSync(join(recordings, recording, 'frames.bin.gz')))
  const frames: Buffer[] = []
  for (let at = 0; at < raw.length;) {
    const length = raw.readUInt32LE(at)
    frames.push(raw.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return frames
}

function measureForeign(): void {
  const traces = Buffer.from(foreignTraces(shipAbi))
  const megabytes = traces.length / 1e6
  const sink = { action: () => undefined }
  const walked = rate(() => protocol.scanTraces(traces, watch, sink))
  print(`foreign transfers, ${Math.round(traces.length / 1000)} kB a block: walk`, walked * megabytes, 'MB/s')
  print('  the same in action traces', walked * transfersPerBlock * 3, '/s')
  let sum = 0
  const touched = rate(() => {
    for (let at = 0; at < traces.length; at += 64) sum += traces[at]!
  })
  print('  for comparison: touch one byte of each 64', touched * megabytes, 'MB/s')
  const needles = ['atomicassets', 'atomicmarket', 'delphioracle', 'setabi'].map((name) => {
    const needle = Buffer.alloc(8)
    needle.writeBigUInt64LE(nameToBigInt(name))
    return needle
  })
  const searched = rate(() => {
    for (const needle of needles) if (traces.includes(needle)) sum++
  })
  print(`  for comparison: native search for ${needles.length} names`, searched * megabytes, 'MB/s')
  if (sum < 0) throw new RangeError('unreachable')
}

function measureRecording(): void {
  const frames = framesOf('main')
  const bytes = frames.reduce((sum, frame) => sum + frame.length, 0)
  const passes = rate(() => {
    for (const frame of frames) scan(protocol, frame)
  })
  print('recording main: results, traces and deltas', (passes * bytes) / 1e6, 'MB/s')
  print('  the same in blocks', passes * frames.length, '/s')
  const results = rate(() => {
    for (const frame of frames) protocol.decodeResult(frame)
  })
  print('recording main: results alone', results * frames.length, 'blocks/s')
}

function scan(target: Protocol, frame: Uint8Array): void {
  const result = target.decodeResult(frame)
  if (result.kind === 'status') return
  if (result.traces !== null) target.collectActions(result.traces, watch)
  if (result.deltas !== null) target.scanDeltas(result.deltas, watch, { row: () => undefined })
}

/** The last ABI that the contract set in the recording, and its rows and mints. */
function contractData(): { abi: CompiledAbi; rows: Uint8Array[]; mints: Uint8Array[] } {
  const abis: CompiledAbi[] = []
  const rows: Uint8Array[] = []
  const mints: Uint8Array[] = []
  for (const frame of framesOf('main')) {
    const result = protocol.decodeResult(frame)
    if (result.kind === 'status') continue
    if (result.traces !== null) {
      for (const action of protocol.collectActions(result.traces, watch)) {
        if (action.account === 'atomicassets' && action.name === 'logmint') mints.push(action.data)
      }
    }
    if (result.deltas === null) continue
    protocol.scanDeltas(result.deltas, watch, {
      row: (row) => {
        if (row.code === 'atomicassets' && row.table === 'assets') rows.push(row.value)
      },
      account: (name, packed) => {
        if (name === 'atomicassets' && packed.length > 0) abis.push(compileAbi(parsePackedAbi(packed)))
      },
    })
  }
  const abi = abis.at(-1)
  if (abi === undefined) throw new RangeError('the recording sets no ABI for the assets contract')
  return { abi, rows, mints }
}

function measureDecoders(): void {
  const { abi, rows, mints } = contractData()
  const whole = abi.decoder('assets_s')
  const part = abi.decoder('assets_s', { only: ['asset_id', 'ram_payer'] })
  const mint = abi.decoder('logmint')
  const each = (list: Uint8Array[], decode: (bytes: Uint8Array) => unknown): number =>
    list.length *
    rate(() => {
      for (const bytes of list) decode(bytes)
    })
  print('asset rows decoded', each(rows, whole), '/s')
  print('asset rows, two fields', each(rows, part), '/s')
  print('logmint actions decoded', each(mints, mint), '/s')
}

measureForeign()
measureRecording()
measureDecoders()
