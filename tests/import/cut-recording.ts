import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { packageRoot } from '../../services/core/paths/index.ts'

/** A recording that ends at an earlier block. */
export interface CutRecording {
  readonly folder: string
  remove(): Promise<void>
}

/** Cuts the recording `main` after a block that was the head when the node sent it. */
export async function cutMainAt(block: number): Promise<CutRecording> {
  const recording = join(packageRoot, 'services/devchain/recordings/main')
  const index = readFileSync(join(packageRoot, 'tests/fixtures/recordings/main/index.ndjson'), 'utf8')
  const messages = index
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { off: number; len: number; this?: { num: number } })
  const last = messages.find((message) => message.this?.num === block)!
  const frames = gunzipSync(readFileSync(join(recording, 'frames.bin.gz')))
  const folder = await mkdtemp(join(tmpdir(), 'pronghorn-recording-'))
  await copyFile(join(recording, 'ship-abi.json'), join(folder, 'ship-abi.json'))
  await writeFile(join(folder, 'frames.bin.gz'), gzipSync(frames.subarray(0, last.off + 4 + last.len)))
  return { folder, remove: () => rm(folder, { recursive: true }) }
}
