import { expect, it } from 'vitest'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { compress } from './compression.ts'

it.each([1_024, 16_384, 16_385, 1_000_000])(
  '%i compressed bytes decompress to the original',
  async (size) => {
    const bytes = Buffer.from('{"owner":"someone","name":"Zażółć"},'.repeat(size)).subarray(0, size)
    const forms = { gzip: gunzipSync, br: brotliDecompressSync }
    for (const [encoding, decompress] of Object.entries(forms)) {
      const form = await compress(bytes, encoding as keyof typeof forms)
      expect(form.length).toBeLessThan(size / 4)
      expect(decompress(form).equals(bytes)).toBe(true)
    }
    expect(await compress(bytes, 'identity')).toBe(bytes)
  },
)
