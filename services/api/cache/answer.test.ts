import { expect, it, vi } from 'vitest'
import { compress } from '../../core/http/index.ts'
import { Answer } from './index.ts'

vi.mock(import('../../core/http/index.ts'), async (importOriginal) => {
  const original = await importOriginal()
  return { ...original, compress: vi.fn(original.compress) }
})

it('an answer whose compression failed is compressed for the next request', async () => {
  const answer = Answer.of('x'.repeat(2_000), ['', ''])
  const form = async () => answer.formFor('GET', { 'accept-encoding': 'br' })
  vi.mocked(compress).mockRejectedValueOnce(new Error('no memory'))
  await expect(form()).rejects.toThrow('no memory')
  expect((await form()).headers['Content-Encoding']).toBe('br')
})
