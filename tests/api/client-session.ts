import type pg from 'pg'
import type { Session, Statement } from '../../services/api/index.ts'

/** Wraps a client as a `Session`. */
export function sessionOf(client: pg.Client): Session {
  return {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows as unknown as Row[]
    },
    snapshot: (work) => work(),
  }
}
