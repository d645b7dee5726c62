import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import type { AbiDefinition } from '../../services/core/antelope/abi/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'

/** Recordings of real nodes. `main` and `v2` are recordings of the same chain. */
export const recordingNames = ['main', 'v2', 'fork'] as const

/** The messages of a recording, as the node sent them. */
export interface Recording {
  readonly shipAbi: AbiDefinition
  /** All binary messages of the node; the first one is the status result. */
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

/** Reads an ABI of the fixtures, such as `assets.v2` or `ship.leap`. */
export function readAbi(name: string): AbiDefinition {
  const file = join(packageRoot, 'tests/fixtures/contracts', `${name}.abi.json`)
  return normalizeAbiJson(JSON.parse(readFileSync(file, 'utf8')))
}
