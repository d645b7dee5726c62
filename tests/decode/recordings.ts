import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import type { AbiDefinition } from '../../services/core/antelope/abi/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

/** The recordings of real nodes: the first two are one chain. */
export const recordingNames = ['main', 'v2', 'fork'] as const

/** A recording as it came over the wire. */
export interface Recording {
  readonly shipAbi: AbiDefinition
  /** Every binary message, the status result first. */
  readonly frames: Buffer[]
}

/** Reads a recording into memory. */
export function readRecording(name: (typeof recordingNames)[number]): Recording {
  const folder = name === 'fork' ? 'tests/fixtures/recordings/fork' : `services/devchain/recordings/${name}`
  const file = (leaf: string): Buffer => readFileSync(join(packageRoot, folder, leaf))
  const raw = gunzipSync(file('frames.bin.gz'))
  const frames: Buffer[] = []
  for (let at = 0; at < raw.length;) {
    const length = raw.readUInt32LE(at)
    frames.push(raw.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return { shipAbi: normalizeAbiJson(JSON.parse(file('ship-abi.json').toString())), frames }
}

/** An ABI of the fixtures, such as `assets.v2` or `ship.leap`. */
export function readAbi(name: string): AbiDefinition {
  const file = join(packageRoot, 'tests/fixtures/contracts', `${name}.abi.json`)
  return normalizeAbiJson(JSON.parse(readFileSync(file, 'utf8')))
}
