import { chainTables } from '../../../core/model/tables/index.ts'
import { NodeClient, readBlock, readChainInfo, shownAddress } from '../../../core/chain-node/index.ts'
import type { NodeBlock } from '../../../core/chain-node/index.ts'
import { FatalError, RetryableError } from '../../../core/errors/index.ts'
import type { Handler } from '../../handlers/index.ts'
import { ContractDecoder } from '../../pipeline/index.ts'
import type { NodeSettings } from '../../ship/index.ts'
import { CommitUnit } from '../../store/index.ts'
import type { Store, UnitBlock } from '../../store/index.ts'
import { counterStatements } from '../counter-statements.ts'
import { beginImport, finishImport, loadStep, readSteps } from '../progress.ts'
import type { ImportProgress } from '../progress.ts'
import { accountsOf, createReaderHandlers } from '../reader-handlers.ts'
import { asImportError, withTarget } from '../target.ts'
import type { ImportTarget } from '../target.ts'
import { contractTables } from './contract-tables.ts'
import type { ContractTable } from './contract-tables.ts'
import { emptyOrphanedPages, pageTables } from './page-tables.ts'
import { readChanges } from './read-changes.ts'
import { StableNode } from './stable-node.ts'
import { workTables } from './work-tables.ts'
import { readParties, writeRows, writeSettings } from './write-rows.ts'
import type { RowWriting } from './write-rows.ts'

export interface ImportStateOptions extends ImportTarget {
  readonly chain: {
    readonly chainId: string
    /**
     * URL of the chain node from which the import reads the contract tables. A load balancer in front of several nodes
     * is not allowed: the import compares the node's head before and after each request, and each node has a head of
     * its own.
     */
    readonly http: string
    readonly ship: readonly (string | NodeSettings)[]
  }
  /** Maximum number of concurrent requests to the node. */
  readonly atOnce: number
  /** Whether to delete the rows of an unfinished import and to start again. */
  readonly startOver: boolean
  readonly onProgress?: (progress: ImportProgress) => void
}

/** Result of an import from chain state. */
export interface ImportStateReport {
  /** Number of the block whose state was imported. The reader indexes the blocks from the next block on. */
  readonly block: number
  readonly blockId: string
  /** First block from which the database has all history (logs, transfers, trades). */
  readonly historySince: number
  /** Number of contract rows that this run has written to the database. */
  readonly rows: number
  readonly seconds: number
  /** Whether this run resumed an earlier run. */
  readonly resumed: boolean
  /** Number of scope ranges that were read again, because a fork removed the block at which they had been read. */
  readonly pagesReadAgain: number
  /** Configured contracts that do not exist on the chain. */
  readonly missingContracts: readonly string[]
}

/**
 * Maximum number of rounds. A round reads the contract tables; if the chain forks during the round, another round
 * follows. After the last round the import fails with `IMPORT_UNFINISHED`.
 */
const MAX_ROUNDS = 20

/**
 * Fills an empty database with the current state of a chain:
 * 1. records the last irreversible block as the start of the import;
 * 2. copies the contract tables from the chain node to staging tables;
 * 3. reads the blocks since the start, and stages the contract rows that changed in these blocks;
 * 4. writes the staged rows to the final tables, with the state at the last block that step 3 read.
 *
 * @throws FatalError `IMPORT_TARGET_FILLED`, `CHAIN_MISMATCH`, errors of the store and of reading blocks;
 * RetryableError `CHAIN_UNREACHABLE`, `DATABASE_UNAVAILABLE`, `IMPORT_UNFINISHED`.
 */
export async function importState(options: ImportStateOptions): Promise<ImportStateReport> {
  try {
    const handlers = createReaderHandlers(options.settings)
    return await withTarget(options, handlers, (store) => new StateImport(options, handlers, store).run())
  } catch (error) {
    throw asImportError(error, options.signal)
  }
}

class StateImport {
  readonly #options: ImportStateOptions
  readonly #handlers: readonly Handler[]
  readonly #store: Store
  readonly #tables: readonly ContractTable[]
  readonly #client: NodeClient
  #since = 0
  #rows = 0
  #pagesReadAgain = 0
  readonly #missing: string[] = []

  constructor(options: ImportStateOptions, handlers: readonly Handler[], store: Store) {
    this.#options = options
    this.#handlers = handlers
    this.#store = store
    this.#tables = contractTables(handlers)
    this.#client = new NodeClient(options.chain.http, options.atOnce, options.signal)
  }

  async run(): Promise<ImportStateReport> {
    const started = performance.now()
    const resumed = await this.#begin(await this.#irreversibleBlock())
    const decoders = await this.#decoders()
    const block = await this.#collect(decoders)
    await this.#write(await this.#decoders(), block)
    return {
      block: block.num,
      blockId: Buffer.from(block.id).toString('hex'),
      historySince: this.#since + 1,
      rows: this.#rows,
      seconds: (performance.now() - started) / 1000,
      resumed,
      pagesReadAgain: this.#pagesReadAgain,
      missingContracts: this.#missing,
    }
  }

  async #irreversibleBlock(): Promise<NodeBlock> {
    const { http, chainId } = this.#options.chain
    const info = await readChainInfo(http)
    if (info.chainId !== chainId)
      throw new FatalError(
        'CHAIN_MISMATCH',
        `the chain node ${shownAddress(http)} serves chain ${info.chainId}, but the configuration names chain ${chainId}`,
        { details: { held: `chain ${chainId}` } },
      )
    if (info.irreversibleBlock < 1)
      throw new RetryableError(
        'CHAIN_UNREACHABLE',
        `the chain node ${shownAddress(http)} does not return its last irreversible block`,
      )
    return readBlock(http, info.irreversibleBlock)
  }

  async #begin(block: NodeBlock): Promise<boolean> {
    const { settings, startOver } = this.#options
    const { reader } = this.#store.lease
    if (startOver && this.#store.position === null)
      await this.#store.query(
        'UPDATE chain.imports SET fingerprint = $2 WHERE reader = $1 AND finished_at IS NULL',
        [reader, 'given up'],
      )
    const contracts = settings.contracts.map(({ handler, args }) => [handler, Object.entries(args).sort()])
    const resumed = await beginImport(this.#store, {
      kind: 'state',
      source: new URL(this.#options.chain.http).origin,
      fingerprint: JSON.stringify([this.#options.chain.chainId, contracts.sort()]),
      block,
      historySince: block.num + 1,
      workTables: [
        ...workTables(this.#tables),
        `INSERT INTO import.blocks (num, id, time_ms) VALUES (${block.num}, '\\x${block.id}', ${block.timeMs})`,
      ],
    })
    const [row] = await this.#store.query<{ block_num: number }>(
      'SELECT block_num FROM chain.imports WHERE reader = $1',
      [reader],
    )
    this.#since = row!.block_num
    return resumed
  }

  /**
   * Reads the contract tables from the chain node, then the irreversible blocks since the import started. If the node
   * returned some rows at a block that a fork has removed, reads these rows again and then the next irreversible
   * blocks.
   *
   * @returns the last block that was read.
   */
  async #collect(decoders: ReadonlyMap<string, ContractDecoder>): Promise<UnitBlock> {
    const { store, signal, logger } = { store: this.#store, ...this.#options }
    for (let round = 1; ; round++) {
      let paged = 0
      await pageTables({
        store,
        node: () => new StableNode(this.#client, this.#since),
        tables: this.#tables,
        decoders,
        workers: this.#options.atOnce,
        signal,
        onRows: (table, rows) => this.#report(`paging ${table}`, (paged += rows), 0),
      })
      const position = await this.#position()
      if (round === 1) await writeSettings(await this.#writing(decoders, position.timeMs))
      const [last] = await store.query<{ num: number | null }>(
        'SELECT max(num) AS num FROM import.page_blocks',
      )
      const to = Math.max(last?.num ?? 0, position.num)
      const block = await readChanges({
        store,
        handlers: this.#handlers,
        tables: this.#tables,
        settings: this.#options.settings,
        chain: this.#options.chain,
        logger,
        from: position,
        to,
        signal,
        onBlock: (num) => this.#report('reading blocks', num - this.#since, to - this.#since),
      })
      const orphaned = await emptyOrphanedPages(store)
      if (orphaned === 0) {
        await this.#checkVersions()
        return block
      }
      this.#pagesReadAgain += orphaned
      logger.info(
        { pages: orphaned },
        'the chain forked while its tables were read: the tables are read again',
      )
      if (round === MAX_ROUNDS)
        throw new RetryableError(
          'IMPORT_UNFINISHED',
          'the chain forked during every attempt to page its tables',
        )
    }
  }

  /**
   * Fails if a contract was upgraded to version 2 while the import read the tables of the contract.
   *
   * The settings that the chain node returns show only the newest version of the contract. If the ABI of a version 2
   * contract has changed since the import began, earlier blocks may be version 1 blocks that were read as version 2.
   *
   * @throws RetryableError `IMPORT_UNFINISHED`.
   */
  async #checkVersions(): Promise<void> {
    const { assets, market } = accountsOf(this.#handlers)
    for (const [account, table] of [
      [assets, 'assets.config'],
      [market, 'market.config'],
    ] as const) {
      if (account === null) continue
      const changed = await this.#store.query<{ block: number }>(
        `SELECT block_num AS block FROM chain.abis
         WHERE account = $1 AND block_num > $2 AND EXISTS (SELECT FROM ${table} WHERE v2_since_block = 0) ORDER BY 1 LIMIT 1`,
        [account, this.#since],
      )
      if (changed[0] !== undefined)
        throw new RetryableError(
          'IMPORT_UNFINISHED',
          `contract ${account} was upgraded in block ${changed[0].block}, while its tables were paged: run the import again with --start-over`,
        )
    }
  }

  async #position(): Promise<UnitBlock> {
    const [row] = await this.#store.query<{ num: number; id: Buffer; time: bigint }>(
      'SELECT num, id, time_ms AS time FROM import.blocks ORDER BY num DESC LIMIT 1',
    )
    return { num: row!.num, id: row!.id, timeMs: Number(row!.time) }
  }

  async #write(decoders: ReadonlyMap<string, ContractDecoder>, block: UnitBlock): Promise<void> {
    const { store } = { store: this.#store }
    const writing = await this.#writing(decoders, block.timeMs)
    await this.#once(writing, 'accounts with code', {
      put: (unit) => this.#codeAccounts(writing, block, unit),
    })
    await writeRows(writing)
    if (accountsOf(this.#handlers).assets !== null)
      for (const { table, statement } of counterStatements())
        await this.#once(writing, `counter ${table}`, { statement })
    await finishImport(store, block, async (statements) => {
      // For a contract that was on version 2 before the import began, the block of the upgrade is unknown. Store the
      // import block instead.
      for (const table of ['assets.config', 'market.config'])
        await statements.run(`UPDATE ${table} SET v2_since_block = $1 WHERE v2_since_block = 0`, [block.num])
    })
  }

  async #once(
    { done, timeMs }: RowWriting,
    name: string,
    { put, statement }: { put?: (unit: CommitUnit) => Promise<number>; statement?: string },
  ): Promise<void> {
    if (done.has(name)) return
    this.#options.signal.throwIfAborted()
    const unit = new CommitUnit(false)
    const rows = (await put?.(unit)) ?? 0
    await loadStep(this.#store, { name, unit, rows, timeMs }, async (statements) => {
      await statements.run('SET LOCAL enable_hashjoin = on', [])
      if (statement !== undefined) await statements.run(statement, [])
    })
    this.#report(name, 1, 1)
  }

  /**
   * Asks the node which parties of open offers and listings are contracts, and adds the contracts to
   * `chain.code_accounts`.
   *
   * @returns the number of contracts.
   */
  async #codeAccounts(writing: RowWriting, block: UnitBlock, unit: CommitUnit): Promise<number> {
    const known = await this.#store.query<{ account: string }>('SELECT account FROM chain.code_accounts')
    const names = new Set(known.map(({ account }) => account))
    const parties = (await readParties(writing)).filter((name) => !names.has(name))
    const node = new StableNode(this.#client, this.#since)
    const waiting = parties.values()
    let found = 0
    await Promise.all(
      Array.from({ length: this.#options.atOnce }, async () => {
        for (const account of waiting) {
          if ((await node.account(account))?.hasCode !== true) continue
          found++
          unit.upsert(chainTables.codeAccounts, {
            account,
            since_block: block.num,
            reader: this.#store.lease.reader,
          })
        }
      }),
    )
    return found
  }

  async #writing(decoders: ReadonlyMap<string, ContractDecoder>, timeMs: number): Promise<RowWriting> {
    const { logger, signal } = this.#options
    return {
      store: this.#store,
      handlers: this.#handlers,
      tables: this.#tables,
      decoders,
      timeMs,
      done: await readSteps(this.#store),
      logger,
      signal,
      onStep: (table, rows) => this.#report(`writing ${table}`, (this.#rows += rows), 0),
    }
  }

  /**
   * Creates a decoder for each contract, with all ABIs of the contract that the database stores. If the database stores
   * no ABI of the contract, the current ABI is fetched from the node and stored.
   */
  async #decoders(): Promise<Map<string, ContractDecoder>> {
    const decoders = new Map<string, ContractDecoder>()
    for (const handler of this.#handlers) {
      const { account } = handler
      const abis = await this.#abis(account)
      const wanted = Object.fromEntries(
        this.#tables
          .filter(({ contract }) => contract === account)
          .map(({ table }) => [table, { fields: null, wide: null }]),
      )
      const decoder = new ContractDecoder(account, {}, wanted)
      for (const abi of abis) decoder.setAbi(abi)
      if (decoder.hasAbi) decoders.set(account, decoder)
    }
    return decoders
  }

  async #abis(account: string): Promise<Uint8Array[]> {
    const read = () =>
      this.#store.query<{ abi: Buffer }>('SELECT abi FROM chain.abis WHERE account = $1 ORDER BY block_num', [
        account,
      ])
    const known = await read()
    if (known.length > 0) return known.map(({ abi }) => abi)
    const answer = await new StableNode(this.#client, this.#since).account(account)
    if (answer === null || answer.abi.length === 0) {
      if (!this.#missing.includes(account)) this.#missing.push(account)
      this.#options.logger.warn({ account }, 'the contract does not exist on the chain: no rows are imported')
      return []
    }
    const unit = new CommitUnit(false)
    unit.upsert(chainTables.abis, {
      account,
      block_num: this.#since,
      reader: this.#store.lease.reader,
      abi: answer.abi,
    })
    if (answer.hasCode)
      unit.upsert(chainTables.codeAccounts, {
        account,
        since_block: this.#since,
        reader: this.#store.lease.reader,
      })
    await this.#store.load(unit, 0)
    return [answer.abi]
  }

  #report(phase: string, done: number, of: number): void {
    this.#options.onProgress?.({ phase, done, of, rows: this.#rows })
  }
}
