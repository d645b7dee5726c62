import { expect } from 'vitest'
import { patient } from '../setup/patience.ts'

interface Health {
  data: {
    chain: { demo?: boolean; service: { status: string; readers: { state: string; block_num: string }[] } }
  }
}

export async function health(api: string): Promise<Health['data']['chain']> {
  const response = await fetch(`${api}/health`)
  return ((await response.json()) as Health).data.chain
}

/** Waits until the reader follows the head (is live); returns its block. */
export async function untilLive(api: string): Promise<number> {
  await expect
    .poll(async () => (await health(api)).service.readers[0]?.state, {
      timeout: patient(60_000),
      interval: 200,
    })
    .toBe('live')
  const { service } = await health(api)
  return Number(service.readers[0]!.block_num)
}

export async function expectAnAsset(api: string): Promise<void> {
  const response = await fetch(`${api}/atomicassets/v1/assets?limit=1`)
  const body = (await response.json()) as { success: boolean; data: { asset_id: string; contract: string }[] }
  expect(response.status).toBe(200)
  expect(body).toMatchObject({ success: true, data: [{ contract: 'atomicassets' }] })
  expect(BigInt(body.data[0]!.asset_id)).toBeGreaterThan(2n ** 40n)
}
