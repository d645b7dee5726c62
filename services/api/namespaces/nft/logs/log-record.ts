import type { RecordSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { field } from '../../../records/fields/index.ts'

/** Data of a log entry, by the name of the action. */
export type LoggedActions = Readonly<Record<string, RecordSchema>>

/** SQL of the members of a log entry. */
interface LoggedSql {
  /** Global sequence number. */
  readonly seq: string
  /** Name of the action. */
  readonly name: string
  /** JSON of the action's data. */
  readonly data: string
}

/**
 * The members of a log entry of one kind of subject. `x` is its origin row; `data` omits the subject, which the path
 * names.
 */
export function logFields(actions: LoggedActions, { seq, name, data }: LoggedSql) {
  const shapes = Object.entries(actions).map(([action, schema]): RecordSchema => ({
    ...schema,
    description: `data of ${action}`,
  }))
  return {
    log_id: field.decimal(seq, 'Global sequence number of the action'),
    name: {
      ...field.name(name, 'Action'),
      schema: { type: 'string', enum: Object.keys(actions), description: 'Action' } as const,
    },
    data: field.json(data, shape.anyOf(shapes, 'Data of the action other than its subject')),
    txid: { ...field.transaction('x.txid'), empty: 'null' },
    created_at_block: { ...field.decimal('x.block_num', 'Block'), empty: 'null' },
    created_at_time: { ...field.time('x.block_time', 'Time of the block'), empty: 'null' },
  }
}
