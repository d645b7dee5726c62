import { compileAbi } from '../../services/core/antelope/decoder/index.ts'
import type { Recording } from '../decode/recordings.ts'

/** A contract row as table deltas contain it. */
export interface ReplayedRow {
  readonly payer: string
  /** Packed row, in hexadecimal. */
  readonly value: string
  /** Block that wrote the row. */
  readonly block: number
}

/** State at the end of a block. `tables`: `account/table/scope` to primary key to row. */
export interface ReplayedState {
  readonly tables: Map<string, Map<bigint, ReplayedRow>>
  /** Required permission of each linked action: `account/contract/action` to the name of the permission. */
  readonly links: Map<string, string>
  /** Public keys of each permission, by `account/permission`. */
  readonly permissions: Map<string, readonly string[]>
}

interface Block {
  readonly num: number
  readonly id: string
  readonly rows: readonly (readonly [kind: string, present: boolean, fields: Record<string, unknown>])[]
}

type Variant = [string, Record<string, unknown>]

const kinds = ['contract_row', 'permission', 'permission_link']

/** Decodes the blocks of a recording and their table deltas with the generic decoder, in order of arrival. */
export function readDeltas({ shipAbi, frames }: Recording): Block[] {
  const abi = compileAbi(shipAbi)
  return frames.slice(1).flatMap((frame) => {
    const [, result] = abi.decodeType('result', frame) as Variant
    const position = result['this_block'] as { block_num: number; block_id: string } | null
    if (position === null) return []
    const deltas = result['deltas'] as Uint8Array | null
    const tables = deltas === null ? [] : (abi.decodeType('table_delta[]', deltas) as Variant[])
    const rows = tables.flatMap(([, { name, rows: changed }]) =>
      kinds.includes(name as string)
        ? (changed as { present: boolean | number; data: Uint8Array }[]).map(({ present, data }) => {
            const [, fields] = abi.decodeType(name as string, data) as Variant
            return [name as string, Boolean(present), fields] as const
          })
        : [],
    )
    return [{ num: position.block_num, id: position.block_id, rows }]
  })
}

/**
 * Replays blocks one by one. A block whose number is not above the last block's number replaces the blocks from its
 * number on (a fork). Returns the state after the last arrival of each wanted block; only rows of `accounts` count.
 */
export function replay(
  blocks: readonly Block[],
  accounts: ReadonlySet<string>,
  wanted: ReadonlySet<number>,
): Map<number, ReplayedState> {
  const states = new Map<number, ReplayedState>()
  let branch: Block[] = []
  const final = new Map<number, Block>()
  for (const block of blocks) {
    // Replays the whole branch instead of undoing blocks: an undo in the test could have the error of the tested undo.
    branch = branch.filter(({ num }) => num < block.num)
    branch.push(block)
  }
  for (const block of branch) final.set(block.num, block)
  const state: ReplayedState = { tables: new Map(), links: new Map(), permissions: new Map() }
  for (const block of branch) {
    for (const row of block.rows) apply(state, accounts, block.num, ...row)
    if (wanted.has(block.num)) states.set(block.num, copy(state))
  }
  return states
}

function apply(
  { tables, links, permissions }: ReplayedState,
  accounts: ReadonlySet<string>,
  block: number,
  kind: string,
  present: boolean,
  fields: Record<string, unknown>,
): void {
  const text = (name: string) => fields[name] as string
  if (kind === 'permission') {
    const { keys } = fields['auth'] as { keys: { key: string }[] }
    const name = `${text('owner')}/${text('name')}`
    if (present)
      permissions.set(
        name,
        keys.map(({ key }) => key),
      )
    else permissions.delete(name)
    return
  }
  if (kind === 'permission_link') {
    const name = `${text('account')}/${text('code')}/${text('message_type')}`
    if (present) links.set(name, text('required_permission'))
    else links.delete(name)
    return
  }
  if (!accounts.has(text('code'))) return
  const name = `${text('code')}/${text('table')}/${text('scope')}`
  const rows = tables.get(name) ?? new Map<bigint, ReplayedRow>()
  tables.set(name, rows)
  const key = fields['primary_key'] as bigint
  if (!present) rows.delete(key)
  else {
    const value = Buffer.from(fields['value'] as Uint8Array).toString('hex')
    rows.set(key, { payer: text('payer'), value, block })
  }
}

function copy({ tables, links, permissions }: ReplayedState): ReplayedState {
  return {
    tables: new Map([...tables].map(([name, rows]) => [name, new Map(rows)])),
    links: new Map(links),
    permissions: new Map(permissions),
  }
}
