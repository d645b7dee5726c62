import type pg from 'pg'
import { modelTables } from '../../services/core/model/tables/index.ts'
import { sealedKinds } from '../../services/core/seals/index.ts'
import type { SealedKind } from '../../services/core/seals/index.ts'
import { otherValueOf } from '../verify/other-value.ts'

export interface Damage {
  readonly kind: SealedKind
  readonly title: string
  /** SQL condition of the rows to which the damage can be applied. */
  readonly of: string
  readonly text: (row: string, other: string) => string
}

export function damagesOf(kind: SealedKind): Damage[] {
  const table = modelTables.find(({ name }) => name === kind.table)!
  // Leave out the key columns: a row with a changed key is the same damage as a deleted row and an added row.
  const own = Object.entries(table.columns).filter(
    ([name]) => kind.columns.includes(name) && !(table.key as readonly string[]).includes(name),
  )
  const changes = own.flatMap(([name, { type, isNullable }]): Damage[] => {
    // A listing of a single asset may repeat its template and schema as lists.
    const isRepeated =
      (name === 'template_ids' || name === 'schema_names') && table.name.startsWith('market.')
    const of = `t.${name} IS NOT NULL${isRepeated ? ' AND t.asset_count > 1' : ''}`
    const set = (value: string) => (row: string) =>
      `UPDATE ${table.name} t SET ${name} = ${value} WHERE ${row}`
    const change = {
      kind,
      title: `change of ${name}`,
      of,
      text: set(otherValueOf(type, `t.${name}`)),
    }
    const swap = {
      ...{ kind, of, title: `${name} swapped with another row` },
      text: (row: string, other: string) =>
        `UPDATE ${table.name} t SET ${name} = x.${name} FROM ${table.name} x
         WHERE (${row} AND ${ofOther(other)} OR ${other} AND ${ofOther(row)}) AND t.${name} IS DISTINCT FROM x.${name}`,
    }
    const none = { ...change, title: `${name} without value`, text: set('NULL') }
    return [change, swap, ...(isNullable ? [none] : [])]
  })
  const keys: readonly string[] = table.key
  const key = keys.at(-1)!
  const names = Object.keys(table.columns)
  const isTaken = keys.map((name) => `x.${name} = ${name === key ? 'g' : `t.${name}`}`).join(' AND ')
  const free = `(SELECT min(g) FROM generate_series(t.${key} + 1, t.${key} + 9999) g
    WHERE NOT EXISTS (SELECT FROM ${table.name} x WHERE ${isTaken}))`
  const copied = names.map((name) => (name === key ? free : `t.${name}`)).join(', ')
  const isText = table.columns[key]!.type === 'text'
  return [
    ...changes,
    { kind, title: 'row deleted', of: 'true', text: (row) => `DELETE FROM ${table.name} t WHERE ${row}` },
    // The damage adds no row to `market.trades`: a trade without a listing is in no sealed range, and a rule of
    // `verify` reports the trade.
    ...(isText || kind.name === 'market.trades' || kind.name === 'chain.abis'
      ? []
      : [
          {
            ...{ kind, title: 'row added', of: 'true' },
            text: (row: string) =>
              `INSERT INTO ${table.name} (${names.join(', ')}) SELECT ${copied} FROM ${table.name} t WHERE ${row}`,
          },
        ]),
  ]
}

/** Whether a damage changes rows. PostgreSQL refuses some random damages, because of a duplicate key for example. */
export async function changesRows(session: pg.ClientBase, damage: string): Promise<boolean> {
  try {
    return (await session.query(damage)).rowCount !== 0
  } catch (error) {
    if ((error as { readonly code?: string }).code?.startsWith('23')) return false
    throw error
  }
}

const ofOther = (row: string): string => row.replaceAll('t.', 'x.')

/** Returns an SQL condition for each sealed row of a kind; the condition selects only this row. */
export async function sealedRows(
  client: pg.ClientBase,
  kind: SealedKind,
  of: string,
  sealedTo: number,
): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    (kind.blocks === null
      ? kind.sources.map(
          ({ from, scan, settled, block }) =>
            `SELECT t.tableoid, t.ctid FROM ${from} WHERE ${scan} AND (${settled}) AND (${of}) AND ${block} <= ${sealedTo}`,
        )
      : [
          `SELECT t.tableoid, t.ctid FROM ${kind.blocks.from} WHERE ${of} AND ${kind.blocks.sequence} < (SELECT coalesce(max(first_seq), 0) FROM ${kind.blocks.table} WHERE block_num <= ${sealedTo})`,
        ]
    )
      .join(' UNION ALL ')
      .replace(
        /^(.*)$/s,
        "SELECT format('t.tableoid = %s AND t.ctid = %L', tableoid, ctid) AS row FROM ($1) r ORDER BY tableoid, ctid",
      ),
  )
  return rows.map(({ row }) => row)
}

/** Other kinds of row whose seals depend on the rows of a damaged kind. */
export function affected({ name }: SealedKind): string[] {
  if (name.endsWith('.blocks'))
    return sealedKinds.filter((kind) => kind.blocks?.table === name).map((kind) => kind.name)
  if (['market.sales', 'market.auctions', 'market.buyoffers', 'market.template_buyoffers'].includes(name))
    return ['market.trades']
  return name === 'assets.mints' ? ['assets.burns'] : name === 'assets.burns' ? ['assets.mints'] : []
}
