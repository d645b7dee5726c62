import { raw, sql } from '../../sql/index.ts'

/** Name of a template: that of its merged data. */
export const TEMPLATE_NAME = raw(`((coalesce(t.mutable_data, '{}'::jsonb) || t.immutable_data) ->> 'name')`)

/** Its first characters, which an index holds: an entry of an index cannot be as long as a name can. */
export const TEMPLATE_NAME_HEAD = sql`left(${TEMPLATE_NAME}, 100) COLLATE "C"`
