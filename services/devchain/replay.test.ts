import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { ShipClient } from '../../tests/devchain/ship-client.ts'
import { packageRoot } from '../core/paths/index.ts'
import { createDevchain } from './devchain.ts'
import type { Devchain } from './devchain.ts'

const bundled = join(packageRoot, 'services/devchain/recordings')
const forkFolder = join(packageRoot, 'tests/fixtures/recordings/fork')
const open: { stop(): Promise<void> }[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.stop()
})

async function connect(devchain: Devchain): Promise<ShipClient> {
  open.push(devchain)
  return ShipClient.open((await devchain.start()).shipUrl)
}

function recordedFrames(folder: string): Buffer[] {
  const bytes = gunzipSync(readFileSync(join(folder, 'frames.bin.gz')))
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
    frames.push(bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at)))
  }
  return frames
}

test.each([
  ['main', join(bundled, 'main'), 846],
  ['fork', forkFolder, 403],
])('recording %s is sent byte for byte', async (_, folder, last) => {
  const client = await connect(createDevchain({ recordings: [folder], replay: 'recorded' }))
  const [status, ...results] = recordedFrames(folder)
  client.requestStatus()
  client.request({})
  await client.until(() => client.results.length === results.length || client.closed)
  expect(client.abiText).toBe(readFileSync(join(folder, 'ship-abi.json'), 'utf8'))
  expect(client.status?.equals(status!)).toBe(true)
  const differing = results.findIndex((frame, index) => !frame.equals(client.results[index]!.frame))
  expect(differing).toBe(-1)
  expect(client.results.at(-1)?.num).toBe(last)
})

test('the recordings main and v2 are replayed as one chain', async () => {
  const client = await connect(createDevchain({ replay: 'recorded' }))
  const expected = ['main', 'v2'].flatMap((name) =>
    recordedFrames(join(bundled, name)).filter((frame) => frame[0] === 1),
  )
  client.request({})
  await client.until(() => client.results.length === expected.length || client.closed)
  expect(client.results.every((result, index) => result.frame.equals(expected[index]!))).toBe(true)
})

test('the replay mode `history` sends the recorded blocks of the final branch, and changes only the head and the last irreversible block', async () => {
  const client = await connect(createDevchain({ recordings: [forkFolder] }))
  client.request({})
  await client.untilBlock(403)
  const last = new Map<number, Buffer>()
  for (const frame of recordedFrames(forkFolder).slice(1)) last.set(frame.readUInt32LE(74), frame)
  expect(client.results.map((result) => result.num)).toEqual(Array.from({ length: 403 }, (_, i) => i + 1))
  for (const result of client.results) {
    expect(result.frame.subarray(73).equals(last.get(result.num!)!.subarray(73))).toBe(true)
    expect([result.head, result.lib]).toEqual([403, 401])
  }
})

test('a client that reconnects in the middle of a recording continues from there', async () => {
  const devchain = createDevchain({ recordings: [forkFolder], replay: 'recorded' })
  const first = await connect(devchain)
  first.request({ credits: 150 })
  await first.until(() => first.results.length === 150)
  await first.close()
  const known = first.results.slice(-14).map((result) => ({ num: result.num!, id: result.id! }))
  const second = await ShipClient.open((await devchain.start()).shipUrl)
  second.request({ start: 151, positions: known })
  await second.untilBlock(403)
  expect(second.results[0]?.num).toBe(151)
  expect(second.results[0]?.prevId).toBe(known.at(-1)!.id)
  const rewinds = second.results.filter((result, i) => i > 0 && result.num! <= second.results[i - 1]!.num!)
  expect(rewinds.map((result) => result.num)).toEqual([159, 206, 249])
})

test('the error for a folder that is no recording contains its path', () => {
  expect(() => createDevchain({ recordings: ['/nowhere'] })).toThrow(/\/nowhere/)
})
