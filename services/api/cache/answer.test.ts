import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.doUnmock('../../core/http/content/index.ts')
  vi.resetModules()
})

it('an answer whose compression failed is compressed for the next request', async () => {
  vi.resetModules()
  const original = await import('../../core/http/content/index.ts')
  const compress = vi.fn(original.compress)
  vi.doMock('../../core/http/content/index.ts', () => ({ ...original, compress }))
  const { Answer } = await import('./index.ts')
  const answer = Answer.of('x'.repeat(2_000), ['', ''])
  const form = async () => answer.formFor('GET', { 'accept-encoding': 'br' })
  compress.mockRejectedValueOnce(new Error('no memory'))
  await expect(form()).rejects.toThrow('no memory')
  expect((await form()).headers['Content-Encoding']).toBe('br')
})
