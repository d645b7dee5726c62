import type pg from 'pg'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'
import { TreeGrower } from '../lab/index.ts'
import { ASSETS_ACCOUNT, drawChain } from './chain-plan.ts'
import type { ChainPlan } from './chain-plan.ts'
import { SimulatedDatabase } from './databases.ts'
import { digestOf } from './digests.ts'
import { ThreadlessLife } from './life.ts'
import { SimulatedNode } from './node.ts'
import type { NodeSource } from './node.ts'
import { simulatedReader } from './settings.ts'

/** A chain with all that its seeds need of it. */
export interface Chain {
  readonly plan: ChainPlan
  readonly source: Omit<NodeSource, 'libLagBlocks'>
  /** Ids of all blocks that a reader may stand at, hexadecimal. */
  readonly ids: ReadonlySet<string>
  /** Digest after the final chain was read in one go, from a healthy node. */
  straight(): Promise<DatabaseDigest>
}

/** Blocks by which the irreversible block trails in a straight run. */
const STRAIGHT_LAG = 8

/** Makes chains. */
export class Chains {
  readonly #grower = new TreeGrower()
  readonly #abi: Buffer
  readonly #server: DatabaseAddress
  readonly #admin: pg.Pool
  #straightRuns = 0

  constructor(server: DatabaseAddress, admin: pg.Pool) {
    this.#server = server
    this.#admin = admin
    this.#abi = this.#grower.abiOf(ASSETS_ACCOUNT)
  }

  /** The chain of that number. */
  make(number: number): Chain {
    const plan = drawChain(number, this.#abi)
    const tree = this.#grower.grow(plan.tree)
    const { base, abiText, chainId } = this.#grower
    const blocks = [base.at(-1)!, ...tree.main, ...tree.lost.flatMap((branch) => branch.blocks)]
    const source = { base, tree, abiText, chainId }
    let digest: Promise<DatabaseDigest> | undefined
    return {
      plan,
      source,
      ids: new Set(blocks.map(({ id }) => id.toString('hex'))),
      straight: () => (digest ??= this.#readStraight(source, plan.tree.length)),
    }
  }

  /** Indexes the base of all chains. */
  async fillBase(database: DatabaseAddress): Promise<void> {
    const { base, abiText, chainId } = this.#grower
    const source = { base, tree: { main: [], lost: [] }, abiText, chainId }
    await this.#index(source, 0, database)
  }

  async #readStraight(source: Chain['source'], height: number): Promise<DatabaseDigest> {
    const database = await SimulatedDatabase.create(
      this.#admin,
      this.#server,
      `straight_${++this.#straightRuns}`,
    )
    try {
      await this.#index(source, height, database.address)
      return await digestOf(database.address)
    } finally {
      await database.drop()
    }
  }

  async #index(source: Chain['source'], height: number, database: DatabaseAddress): Promise<void> {
    const node = new SimulatedNode({ ...source, libLagBlocks: STRAIGHT_LAG }, height)
    const life = await ThreadlessLife.start({
      settings: { ...simulatedReader, stop_block: source.base.length + height },
      database,
      chainId: source.chainId,
      nodes: [await node.start()],
      send: () => undefined,
      log: () => undefined,
    })
    const end = await life.ended
    await life.proxy.close()
    await node.stop()
    if (end.code !== null) throw new Error(`a straight run ended with ${end.text}`)
  }
}
