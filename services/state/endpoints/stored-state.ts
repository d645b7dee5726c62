import { Refusal, belowHistory, notReady } from '../answers/index.ts'
import { readPosition, resolveBlock } from '../chain/index.ts'
import type { Coverage, Position, StateSession } from '../chain/index.ts'
import { isSeen } from '../tables/rows.ts'
import { selectBlockId } from '../tables/blocks.ts'
import type { StateParts } from './endpoint.ts'

/** The stored state in one database snapshot. */
export interface StateSnapshot {
  readonly session: StateSession
  readonly position: Position
  readonly coverage: Coverage
  /** Block at whose end the state is read. */
  readonly block: number
  /** Members of the response that all endpoints share. */
  readonly common: Readonly<Record<string, unknown>>
}

/** Request parameters that select a block. */
export interface BlockQuery {
  readonly block_num?: bigint | undefined
  readonly irreversible_only?: boolean
}

/**
 * Runs reads of the stored state at a block in one database snapshot. The session ends with `work`. Reads on
 * another connection, such as the read of an ABI, must come after `work`: a request never holds two
 * connections.
 * @throws Refusal 400 if the state at the block is not known, or no state is stored.
 */
export function withSnapshot<T>(
  parts: StateParts,
  query: BlockQuery,
  work: (snapshot: StateSnapshot) => Promise<T>,
): Promise<T> {
  return parts.database.snapshot(async (session) => {
    const position = await readPosition(session)
    const { coverage } = position
    if (!coverage) throw notStored('This server stores no state: no reader has the handler "state".', {})
    const block = resolveBlock(query.block_num, position, query.irreversible_only)
    const first = Math.max(coverage.sinceBlock, coverage.historyFrom)
    if (block < first) throw belowHistory(block, first, position.head.num)
    const common = await commonPart(session, position, block)
    return work({ session, position, coverage, block, common })
  })
}

async function commonPart(
  session: StateSession,
  { head, irreversible }: Position,
  block: number,
): Promise<Readonly<Record<string, unknown>>> {
  const last = {
    last_irreversible_block_id: irreversible.id,
    last_irreversible_block_num: irreversible.num,
  }
  if (block <= irreversible.num) return last
  const id = block === head.num ? head.id : await selectBlockId(session, block)
  if (id === null) throw notReady(`Block ${block} is not stored.`)
  return { up_to_block_id: id, up_to_block_num: block, ...last }
}

/** Error: the server is not configured to store the requested state. */
function notStored(message: string, details: Readonly<Record<string, unknown>>): Refusal {
  return new Refusal(400, 'app_state_not_kept_error', message, { details })
}

/** @throws Refusal 400 if the rows of one of the accounts are not stored. */
export function requireAccounts({ coverage }: StateSnapshot, accounts: readonly string[]): void {
  const missing = accounts.find((account) => !coverage.accounts.has(account))
  if (missing !== undefined)
    throw notStored(`The rows of account '${missing}' are not stored by this server.`, { account: missing })
}

/** @throws Refusal 400 if permissions are not stored. */
export function requirePermissions({ coverage }: StateSnapshot): void {
  if (!coverage.permissions) throw notStored('Permissions are not stored by this server.', {})
}

/** @throws Refusal 400 if the table has never had a row up to the block. */
export async function requireTable(snapshot: StateSnapshot, account: string, table: string): Promise<void> {
  if (await isSeen(snapshot.session, account, table, snapshot.block)) return
  throw new Refusal(
    400,
    'data_table_not_found_error',
    `Table '${table}' of account '${account}' has had no row up to block '${snapshot.block}'.`,
    { details: { account, table, block_num: snapshot.block } },
  )
}
