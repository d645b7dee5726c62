import type pg from 'pg'
import { summaryStatement } from '../../core/seals/published/index.ts'
import type { SealSummary } from '../../core/seals/published/index.ts'
import type { Manifest } from './manifest.ts'

/** Reads the digest of all seals in the form of the manifest. */
export async function readSealSummary(client: pg.ClientBase): Promise<Manifest['seals']> {
  const { text, values } = summaryStatement()
  const { rows: answers } = await client.query<{ json: string }>(text, [...values])
  const { kinds, sealed_to, rows, digest } = JSON.parse(answers[0]!.json) as SealSummary
  return { kinds: kinds.length, sealed_to, rows, digest }
}
