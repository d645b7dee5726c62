import type { NamedSchema, RecordSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'

/** Data of a log entry, by the name of the action. */
export type LoggedActions = Readonly<Record<string, RecordSchema>>

/** The record of a log of one kind of subject; `data` lacks what the path already says. */
export function logRecord(title: string, description: string, actions: LoggedActions): NamedSchema {
  const shapes = Object.entries(actions).map(([name, schema]): RecordSchema => ({
    ...schema,
    description: `data of ${name}`,
  }))
  return shape.record(title, description, {
    log_id: shape.decimal('Global sequence number of the action'),
    name: { type: 'string', enum: Object.keys(actions), description: 'Action' },
    data: shape.anyOf(shapes, 'Data of the action other than its subject'),
    txid: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' },
    created_at_block: shape.decimal('Block'),
    created_at_time: shape.time('Time of the block'),
  })
}
