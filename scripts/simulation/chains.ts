import type pg from 'pg'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'
import { TreeGrower } from '../lab/index.ts'
import { contractAccounts, drawChain } from './chain-plan.ts'
import type { ChainPlan, ContractAccount } from './chain-plan.ts'
import { SimulatedDatabase } from './databases.ts'
import { digestOf } from './digests.ts'
import type { FeedRow } from './feed-rules.ts'
import { ThreadlessLife } from './life.ts'
import { SimulatedNode } from './node.ts'
import type { NodeSource } from './node.ts'
import { readerNames } from './readers.ts'
import { plainReaders } from './settings.ts'
import type { ReaderCount } from './readers.ts'

/** A chain that several seeds use, and the results of readers that index it without faults. */
export interface Chain {
  readonly plan: ChainPlan
  readonly source: Omit<NodeSource, 'libLagBlocks'>
  /** Ids of all blocks that may be the position of a reader, hexadecimal. */
  readonly ids: ReadonlySet<string>
  /** Indexes the final chain without faults, once for each number of readers. */
  straight(readers: ReaderCount): Promise<StraightRun>
}

/** Database contents and feeds after a run without faults. */
export interface StraightRun {
  readonly digest: DatabaseDigest
  /** Feed entries of the run without faults, by reader. */
  readonly feeds: ReadonlyMap<string, readonly FeedRow[]>
}

/** Number of blocks between the head and the last irreversible block in a run without faults. */
const STRAIGHT_LAG = 8

/** Generates the chains of the simulation, and indexes them without faults. */
export class Chains {
  readonly #grower = new TreeGrower()
  readonly #abis: Readonly<Record<ContractAccount, Buffer>>
  readonly #server: DatabaseAddress
  readonly #admin: pg.Pool
  #straightRuns = 0

  constructor(server: DatabaseAddress, admin: pg.Pool) {
    this.#server = server
    this.#admin = admin
    this.#abis = Object.fromEntries(
      contractAccounts.map((account) => [account, this.#grower.abiOf(account)]),
    ) as Record<ContractAccount, Buffer>
  }

  /** Generates the chain with this number. */
  make(number: number): Chain {
    const plan = drawChain(number, this.#abis)
    const tree = this.#grower.grow(plan.tree)
    const { base, abiText, chainId } = this.#grower
    const blocks = [base.at(-1)!, ...tree.main, ...tree.lost.flatMap((branch) => branch.blocks)]
    const source = { base, tree, abiText, chainId }
    const runs = new Map<ReaderCount, Promise<StraightRun>>()
    return {
      plan,
      source,
      ids: new Set(blocks.map(({ id }) => id.toString('hex'))),
      straight: (readers) => {
        const run = runs.get(readers) ?? this.#readStraight(source, plan.tree.length, readers)
        runs.set(readers, run)
        return run
      },
    }
  }

  /** Indexes the base blocks, with which all chains begin. */
  async fillBase(database: DatabaseAddress, readers: ReaderCount): Promise<void> {
    const { base, abiText, chainId } = this.#grower
    const source = { base, tree: { main: [], lost: [] }, abiText, chainId }
    await this.#index(source, 0, database, readers)
  }

  async #readStraight(source: Chain['source'], height: number, readers: ReaderCount): Promise<StraightRun> {
    const database = await SimulatedDatabase.create(this.#admin, {
      server: this.#server,
      name: `straight_${++this.#straightRuns}`,
      readers,
    })
    try {
      await this.#index(source, height, database.address, readers)
      const feeds = new Map<string, readonly FeedRow[]>()
      for (const name of readerNames.slice(0, readers)) feeds.set(name, await database.feed(name))
      return { digest: await digestOf(database.address), feeds }
    } finally {
      await database.drop()
    }
  }

  async #index(
    source: Chain['source'],
    height: number,
    database: DatabaseAddress,
    readers: ReaderCount,
  ): Promise<void> {
    for (const settings of plainReaders(readers)) {
      const node = new SimulatedNode({ ...source, libLagBlocks: STRAIGHT_LAG }, height)
      const life = await ThreadlessLife.start({
        settings: { ...settings, stop_block: source.base.length + height },
        database,
        chainId: source.chainId,
        nodes: [await node.start()],
        buildsIndexes: false,
        send: () => undefined,
        log: () => undefined,
      })
      const end = await life.ended
      await life.proxy.close()
      await node.stop()
      if (end.code !== null) throw new Error(`a run without faults exited with ${end.text}`)
    }
  }
}
