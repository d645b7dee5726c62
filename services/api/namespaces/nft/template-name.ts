import { raw, sql } from '../../sql/index.ts'

/** Name of a template, from its merged data. */
export const TEMPLATE_NAME = raw(`((coalesce(t.mutable_data, '{}'::jsonb) || t.immutable_data) ->> 'name')`)

/** First characters of a template's name, as indexed: a B-tree entry holds at most 2.7 kB, and names can be longer. */
export const TEMPLATE_NAME_HEAD = sql`left(${TEMPLATE_NAME}, 100) COLLATE "C"`
