import { Refusal, belowHistory, notReady } from '../answers/index.ts'
import { readPosition, resolveBlock } from '../chain/index.ts'
import type { Coverage, Position, StateSession } from '../chain/index.ts'
import { isSeen, selectBlockId } from '../tables/index.ts'
import type { StateParts } from './endpoint.ts'

/** One moment of the kept state. */
export interface KeptMoment {
  readonly session: StateSession
  readonly position: Position
  readonly coverage: Coverage
  /** Block at whose end the state is told. */
  readonly block: number
  /** Members that answers have in common. */
  readonly common: Readonly<Record<string, unknown>>
}

/** Which block is asked for. */
export interface MomentQuery {
  readonly block_num?: bigint | undefined
  readonly irreversible_only?: boolean
}

/**
 * Runs reads of the kept state at a block, all of them of one moment of the database. The session ends with `work`;
 * what needs another connection, such as an ABI, comes after it: a request never holds two.
 * @throws Refusal 400 when the block cannot be told of, or nothing is kept.
 */
export function atMoment<T>(
  parts: StateParts,
  query: MomentQuery,
  work: (moment: KeptMoment) => Promise<T>,
): Promise<T> {
  return parts.database.snapshot(async (session) => {
    const position = await readPosition(session)
    const { coverage } = position
    if (!coverage) throw notKept('This server keeps no state: no reader has the handler "state".', {})
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
  if (id === null) throw notReady(`Block ${block} is not kept.`)
  return { up_to_block_id: id, up_to_block_num: block, ...last }
}

/** What this server was not told to keep. */
function notKept(message: string, details: Readonly<Record<string, unknown>>): Refusal {
  return new Refusal(400, 'app_state_not_kept_error', message, details)
}

/** @throws Refusal 400 when the rows of one of the accounts are not kept. */
export function requireAccounts({ coverage }: KeptMoment, accounts: readonly string[]): void {
  const missing = accounts.find((account) => !coverage.accounts.has(account))
  if (missing !== undefined)
    throw notKept(`The rows of account '${missing}' are not kept by this server.`, { account: missing })
}

/** @throws Refusal 400 when permissions are not kept. */
export function requirePermissions({ coverage }: KeptMoment): void {
  if (!coverage.permissions) throw notKept('Permissions are not kept by this server.', {})
}

/** @throws Refusal 400 when the table had never had a row by then. */
export async function requireTable(moment: KeptMoment, account: string, table: string): Promise<void> {
  if (await isSeen(moment.session, account, table, moment.block)) return
  throw new Refusal(
    400,
    'data_table_not_found_error',
    `Table '${table}' of account '${account}' has never had a row at block '${moment.block}'.`,
    { account, table, block_num: moment.block },
  )
}
