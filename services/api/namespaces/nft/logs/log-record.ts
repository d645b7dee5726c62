import type { RecordSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { field } from '../../../records/fields/index.ts'

/** JSON schema of the data of a log entry, by the name of the action. */
export type LoggedActions = Readonly<Record<string, RecordSchema>>

/** SQL of the members of a log entry. */
interface LoggedSql {
  /** SQL of the global sequence number of the action. */
  readonly seq: string
  /** SQL of the name of the action. */
  readonly name: string
  /** SQL of the action's data as JSON. */
  readonly data: string
}

/**
 * Members of a log entry. `x` is the SQL alias of the row with the entry's transaction and block. `data` omits the id
 * of the asset, template or other subject, which the path names.
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
    data: field.json(
      data,
      shape.anyOf(
        shapes,
        'Data of the action, without the id or the name that the path of the request contains',
      ),
    ),
    txid: { ...field.transaction('x.txid'), empty: 'null' },
    created_at_block: { ...field.decimal('x.block_num', 'Block'), empty: 'null' },
    created_at_time: { ...field.time('x.block_time', 'Time of the block'), empty: 'null' },
  }
}
