import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { FatalError } from '../../core/errors/index.ts'
import { packageRoot } from '../../core/paths/index.ts'
import { ByteReader } from '../bytes/index.ts'
import type { ChainBlock, Position } from '../chain/index.ts'

/** The messages of a node in one session, read from a folder. */
export interface Recording {
  readonly name: string
  /** First (text) frame of the session: the ABI of the protocol. */
  readonly abiText: string
  /** Packed status result of the session. */
  readonly status: Buffer
  /** Chain id from the status result: 64 hexadecimal digits. */
  readonly chainId: string
  /** All messages `get_blocks_result`, in order of arrival. A repeated block number is a fork. */
  readonly messages: readonly RecordedMessage[]
}

/** A blocks result: the bytes of the message, and its parts as views of the same memory. */
export interface RecordedMessage {
  readonly bytes: Buffer
  readonly block: ChainBlock
}

/** A recording above this unpacked size is rejected, bytes. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024

const bundledFolder = join(packageRoot, 'services', 'devchain', 'recordings')

/** Bundled recordings that this process has read: the files never change, and each development chain needs one. */
const bundled = new Map<string, Recording>()

/**
 * Reads a recording: `main` or `v2` (bundled), or a folder with `frames.bin.gz` and `ship-abi.json`. Supports only the
 * result layout of Leap (`get_blocks_result_v0`, variant index 1).
 * @throws FatalError RECORDING_INVALID with the file and the problem
 */
export function readRecording(nameOrFolder: string): Recording {
  if (!isBundled(nameOrFolder)) return readFolder(nameOrFolder, nameOrFolder)
  const read = bundled.get(nameOrFolder) ?? readFolder(nameOrFolder, join(bundledFolder, nameOrFolder))
  bundled.set(nameOrFolder, read)
  return read
}

function isBundled(name: string): boolean {
  return name === 'main' || name === 'v2'
}

function readFolder(name: string, folder: string): Recording {
  try {
    const abiText = readFileSync(join(folder, 'ship-abi.json'), 'utf8')
    const packed = readFileSync(join(folder, 'frames.bin.gz'))
    const frames = splitFrames(gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }))
    const status = frames.find((frame) => frame[0] === 0)
    if (status === undefined) throw new RangeError('there is no status result')
    const chainId = status.subarray(89, 121).toString('hex')
    const messages = frames.filter((frame) => frame[0] === 1).map(readMessage)
    return { name, abiText, status, chainId, messages }
  } catch (cause) {
    throw new FatalError('RECORDING_INVALID', `the recording in ${folder} cannot be read`, { cause })
  }
}

function splitFrames(bytes: Buffer): Buffer[] {
  const reader = new ByteReader(bytes)
  const frames: Buffer[] = []
  while (reader.remaining > 0) frames.push(reader.take(reader.u32()))
  return frames
}

/**
 * Parses a blocks result in the layout of Leap. Throws `RangeError` for other bytes, and for a result without a block.
 */
export function readMessage(bytes: Buffer): RecordedMessage {
  const reader = new ByteReader(bytes, 1)
  const head = readPosition(reader)
  const lib = readPosition(reader)
  if (!reader.bool()) throw new RangeError('a blocks result contains no block')
  const { num, id } = readPosition(reader)
  const prevId = reader.bool() ? readPosition(reader).id : null
  const [block, traces, deltas] = [readPayload(reader), readPayload(reader), readPayload(reader)]
  return { bytes, block: { num, id, prevId, block, traces, deltas, seen: { head, lib } } }
}

function readPosition(reader: ByteReader): Position {
  return { num: reader.u32(), id: reader.take(32) }
}

function readPayload(reader: ByteReader): Buffer | null {
  return reader.bool() ? reader.blob() : null
}
