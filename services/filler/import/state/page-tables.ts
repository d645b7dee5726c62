import type { Store } from '../../store/index.ts'
import { CommitUnit } from '../../store/index.ts'
import type { ContractDecoder } from '../../pipeline/index.ts'
import type { ContractTable } from './contract-tables.ts'
import { scopeValue } from './stable-node.ts'
import type { AnswerBlock, StableNode } from './stable-node.ts'

/** Number of contract rows that one transaction writes to a staging table. */
const ROWS_A_WRITE = 5_000
/**
 * Number of scopes whose rows are requested between two reads of the node's head. If the head moves between the two
 * reads, all of these requests are repeated, so a larger number fails more often.
 */
const SCOPES_AT_ONCE = 8

/**
 * A range of scopes of a contract table, as `import.pages` stores it. Reading the range continues at `scope` and `key`.
 */
interface Page {
  readonly page: number
  readonly table: ContractTable
  readonly first: bigint
  readonly next: bigint | null
  /** Scope at which reading continues; null if no row of the range has been read. */
  readonly scope: string | null
  readonly key: string
}

/** A contract row to write to its staging table. */
interface StagedRow {
  readonly scope: string
  readonly primaryKey: bigint
  readonly value: Uint8Array
}

export interface Paging {
  readonly store: Store
  readonly node: () => StableNode
  readonly tables: readonly ContractTable[]
  /** Decoders by contract account. A contract that does not exist on the chain has no decoder. */
  readonly decoders: ReadonlyMap<string, ContractDecoder>
  /** Number of scope ranges that are read concurrently. */
  readonly workers: number
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number) => void
}

/**
 * Copies every contract table from the chain node to the staging table of the contract table.
 *
 * A run that resumes an interrupted import first reads the rest of each unfinished scope range. Then the run reads the
 * scopes after the last range that `import.pages` lists.
 *
 * @throws RetryableError `CHAIN_UNREACHABLE`.
 */
export async function pageTables(paging: Paging): Promise<void> {
  const writer = new StageWriter(paging.store)
  const pages = eachPage(paging, writer)
  let failure: Error | undefined
  await Promise.all(
    Array.from({ length: paging.workers }, async () => {
      const check = (): void => {
        if (failure !== undefined) throw failure
        paging.signal.throwIfAborted()
      }
      const worker = { paging, writer, node: paging.node(), check }
      try {
        for (;;) {
          const next = await pages.next()
          if (next.done === true || failure !== undefined) return
          await readPage(worker, next.value)
        }
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error))
      }
    }),
  )
  if (failure !== undefined) throw failure
}

/** Yields, for each contract table, first the unfinished scope ranges of earlier runs, then new scope ranges. */
async function* eachPage(paging: Paging, writer: StageWriter): AsyncGenerator<Page> {
  const node = paging.node()
  for (const table of paging.tables) {
    if (!paging.decoders.get(table.contract)?.namesRow(table.table)) continue
    const known = await writer.alone(() => knownPages(paging.store, table))
    for (const { page, first, next, scope, key, is_done: isDone } of known)
      if (!isDone) yield { page, table, first: BigInt(first), next: bigintOf(next), scope, key: key ?? '' }
    const last = known.at(-1)
    let from = last === undefined ? 0n : bigintOf(last.next)
    while (from !== null) {
      paging.signal.throwIfAborted()
      const { value, blocks } = await node.scopes(table.contract, table.table, from)
      const first = from
      const page = await writer.alone(() => addPage(paging.store, table, { first, next: value.next }, blocks))
      yield { page, table, first: from, next: value.next, scope: null, key: '' }
      from = value.next
    }
  }
}

interface KnownPage {
  readonly page: number
  readonly first: string
  readonly next: string | null
  readonly scope: string | null
  readonly key: string | null
  readonly is_done: boolean
}

function knownPages(store: Store, { stage }: ContractTable): Promise<KnownPage[]> {
  return store.query<KnownPage & Record<string, unknown>>(
    'SELECT page, first::text, next::text, scope, key, is_done FROM import.pages WHERE stage = $1 ORDER BY first',
    [stage],
  )
}

const bigintOf = (text: string | null) => (text === null ? null : BigInt(text))

async function addPage(
  store: Store,
  { stage }: ContractTable,
  { first, next }: Pick<Page, 'first' | 'next'>,
  blocks: readonly AnswerBlock[],
): Promise<number> {
  const [row] = await store.query<{ page: number }>(
    `WITH added AS (INSERT INTO import.pages (stage, first, next) VALUES ($1, $2, $3) RETURNING page),
       of AS (INSERT INTO import.page_blocks SELECT page, num, decode(id, 'hex') FROM added, unnest($4::integer[], $5::text[]) AS u(num, id))
     SELECT page FROM added`,
    [stage, first.toString(), next?.toString() ?? null, ...columnsOf(blocks)],
  )
  return row!.page
}

const columnsOf = (blocks: readonly AnswerBlock[]) => {
  const byId = new Map(blocks.map((block) => [block.id, block.num]))
  return [[...byId.values()], [...byId.keys()]]
}

interface PageWorker {
  readonly paging: Paging
  readonly writer: StageWriter
  readonly node: StableNode
  /** Throws if another worker has failed or the import is cancelled. */
  readonly check: () => void
}

async function readPage({ paging, writer, node, check }: PageWorker, page: Page): Promise<void> {
  const { contract, table } = page.table
  const decoder = paging.decoders.get(contract)!
  let rows: StagedRow[] = []
  let blocks: AnswerBlock[] = []
  const take = (scope: string, values: readonly Uint8Array[]) => {
    for (const value of values) rows.push({ scope, value, primaryKey: primaryOf(page.table, decoder, value) })
  }
  const write = async (at: { scope: string; key: string } | null) => {
    await writer.write(page, rows, blocks, at)
    paging.onRows(`${contract} ${table}`, rows.length)
    rows = []
    blocks = []
  }
  /** Reads the rows of one scope of the contract table, from the key `from` to the end of the scope. */
  const readRest = async (scope: string, from: string | null) => {
    for (let next = from; next !== null;) {
      check()
      if (rows.length >= ROWS_A_WRITE) await write({ scope, key: next })
      const { value, blocks: of } = await node.rows(contract, table, [scope], next)
      take(scope, value[0]!.rows)
      blocks.push(...of)
      next = value[0]!.next
    }
  }
  if (page.scope !== null && page.key !== '') await readRest(page.scope, page.key)
  for await (const scopes of scopesOf(node, page, (of) => blocks.push(...of))) {
    check()
    if (rows.length >= ROWS_A_WRITE) await write({ scope: scopes[0]!, key: '' })
    const { value, blocks: of } = await node.rows(contract, table, scopes, '')
    blocks.push(...of)
    for (const [i, scope] of scopes.entries()) {
      take(scope, value[i]!.rows)
      await readRest(scope, value[i]!.next)
    }
  }
  await write(null)
}

/**
 * Yields the scopes of a scope range that have not been read, in groups of at most SCOPES_AT_ONCE. If reading stopped
 * inside a scope, the groups begin with the next scope.
 */
async function* scopesOf(
  node: StableNode,
  page: Page,
  note: (blocks: readonly AnswerBlock[]) => void,
): AsyncGenerator<string[]> {
  const { contract, table } = page.table
  let from: bigint | null = page.first
  if (page.scope !== null) from = scopeValue(page.scope) + (page.key === '' ? 0n : 1n)
  while (from !== null && (page.next === null || from < page.next)) {
    const { value, blocks: of }: Awaited<ReturnType<StableNode['scopes']>> = await node.scopes(
      contract,
      table,
      from,
    )
    note(of)
    const inside = value.scopes.filter((scope) => page.next === null || scopeValue(scope) < page.next)
    for (let i = 0; i < inside.length; i += SCOPES_AT_ONCE) yield inside.slice(i, i + SCOPES_AT_ONCE)
    from = value.next
  }
}

function primaryOf(table: ContractTable, decoder: ContractDecoder, value: Uint8Array): bigint {
  const fields = table.field === null ? {} : decoder.decodeRow(table.table, value, 0, value.length)
  return table.primaryOf(fields as Readonly<Record<string, unknown>>)
}

/**
 * Queue for the store's session: concurrent workers share the one session, so their statements run one after another.
 */
class StageWriter {
  readonly #store: Store
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Writes rows of a scope range and the position `at` from which reading the range continues, in one transaction. `at`
   * is null if the range is complete.
   */
  write(
    page: Page,
    rows: readonly StagedRow[],
    blocks: readonly AnswerBlock[],
    at: { scope: string; key: string } | null,
  ): Promise<void> {
    return this.alone(() => this.#write(page, rows, blocks, at))
  }

  /** Calls `work`, which uses the store's session, after all earlier calls of `alone` and `write` have ended. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const doing = this.#last.then(work)
    this.#last = doing.catch(() => undefined)
    return doing
  }

  #write(
    { page, table }: Page,
    rows: readonly StagedRow[],
    blocks: readonly AnswerBlock[],
    at: { scope: string; key: string } | null,
  ): Promise<void> {
    return this.#store.load(new CommitUnit(false), 0, async (statements) => {
      await statements.run(
        `INSERT INTO ${table.stage} (page, scope, primary_key, value)
         SELECT $1, u.scope, u.key, u.value FROM unnest($2::text[], $3::bigint[], $4::bytea[]) AS u(scope, key, value)`,
        [
          page,
          rows.map(({ scope }) => scope),
          rows.map(({ primaryKey }) => primaryKey),
          rows.map(({ value }) => value),
        ],
      )
      await statements.run(
        `INSERT INTO import.page_blocks SELECT $1, num, decode(id, 'hex') FROM unnest($2::integer[], $3::text[]) AS u(num, id) ON CONFLICT DO NOTHING`,
        [page, ...columnsOf(blocks)],
      )
      await statements.run(
        'UPDATE import.pages SET scope = $2, key = $3, is_done = $4, row_count = row_count + $5 WHERE page = $1',
        [page, at?.scope ?? null, at?.key ?? null, at === null, rows.length],
      )
    })
  }
}

/**
 * Deletes the staged rows of each scope range that was read at a block that a fork has removed. The import then reads
 * these ranges again.
 *
 * @returns the number of these ranges.
 */
export async function emptyOrphanedPages(store: Store): Promise<number> {
  const orphaned = await store.query<{ page: number; stage: string }>(
    `SELECT DISTINCT p.page, p.stage FROM import.pages p JOIN import.page_blocks b ON b.page = p.page
     WHERE b.id IS DISTINCT FROM (SELECT c.id FROM import.blocks c WHERE c.num = b.num)`,
  )
  if (orphaned.length === 0) return 0
  await store.load(new CommitUnit(false), 0, async (statements) => {
    for (const { page, stage } of orphaned) {
      await statements.run(`DELETE FROM ${stage} WHERE page = $1`, [page])
      await statements.run('DELETE FROM import.page_blocks WHERE page = $1', [page])
      await statements.run(
        'UPDATE import.pages SET scope = NULL, key = NULL, is_done = false, row_count = 0 WHERE page = $1',
        [page],
      )
    }
  })
  return orphaned.length
}
