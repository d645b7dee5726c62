import { ASSETS_ACCOUNT, FIRST_ASSET_ID } from '../contracts/rows.ts'
import { nameText, nameValue } from '../runtime/index.ts'
import { SECOND_TOKEN_ACCOUNT, TOKEN_ACCOUNT } from '../contracts/token.ts'
import type { AssetOwners } from '../contracts/assets-shared.ts'
import type { ConfigRow } from '../contracts/rows.ts'
import type { Runtime } from '../runtime/index.ts'
import type { ChainState } from '../chain/index.ts'
import type { Random } from './random.ts'
import { ACCOUNT_SUFFIX } from './wording.ts'

/** A generated collection with its schemas and templates. */
export interface OwnCollection {
  readonly name: string
  readonly author: string
  readonly schemas: string[]
  readonly templates: number[]
}

/** The account without code that holds most of a token; it funds generated accounts. */
export interface Treasury {
  readonly token: string
  readonly account: string
  /** Primary key of the token's symbol in the balance table. */
  readonly key: bigint
}

/** Number of random ids that are tried to find an asset: some ids belong to burned assets. */
const MAX_TRIES = 16

/**
 * Index of the entities that the generator picks from: accounts, generated collections, asset owners. Changes are
 * recorded in the chain's journal, so that they are undone with the blocks that a fork undoes.
 */
export class Directory implements AssetOwners {
  readonly people: string[] = []
  readonly collections: OwnCollection[] = []
  /** A recorded account that can fund new accounts. */
  readonly treasury: Treasury | null
  /** A recorded account that can fund new accounts with the second token. */
  readonly secondTreasury: Treasury | null
  #marketUpgradeMs = 0
  readonly #owners = new Map<bigint, string>()
  readonly #state: ChainState
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#state = runtime.state
    this.treasury = this.#findTreasury(TOKEN_ACCOUNT)
    this.secondTreasury = this.#findTreasury(SECOND_TOKEN_ACCOUNT)
    this.#readPeople()
    this.#readCollections()
  }

  /** The configuration row of the assets contract; undefined if the chain has none. */
  config(): ConfigRow | undefined {
    return this.#runtime.row(ASSETS_ACCOUNT, 'config', ASSETS_ACCOUNT, nameValue('config'))
  }

  set(id: bigint, owner: string): void {
    this.#state.set(this.#owners, id, owner)
  }

  delete(id: bigint): void {
    const owner = this.#owners.get(id)
    this.#owners.delete(id)
    if (owner !== undefined) this.#state.journal.record(() => void this.#owners.set(id, owner))
  }

  /** Notes that the market was upgraded in the block with this time (epoch milliseconds). */
  noteMarketUpgrade(nowMs: number): void {
    const before = this.#marketUpgradeMs
    this.#marketUpgradeMs = nowMs
    this.#state.journal.record(() => void (this.#marketUpgradeMs = before))
  }

  /** Whether the market was upgraded in the block with this time. */
  isUpgrading(nowMs: number): boolean {
    return this.#marketUpgradeMs === nowMs
  }

  /** Appends to a list; if the current block is undone, the item is removed again. */
  add<T>(list: T[], item: T): void {
    list.push(item)
    this.#state.journal.record(() => void list.pop())
  }

  /** Owner of an asset; undefined if the asset does not exist. */
  ownerOf(id: bigint): string | undefined {
    return this.#owners.get(id)
  }

  /** Ids of the assets of an account. */
  assetsOf(owner: string): Iterable<bigint> {
    const { rows } = this.#state
    return rows.table(nameValue(ASSETS_ACCOUNT), nameValue(owner), nameValue('assets'))?.rows.keys() ?? []
  }

  /**
   * A random asset of an account without code: a contract might react to the transfer of its assets. Null if none was
   * found.
   */
  randomAsset(random: Random, nextId: bigint): { id: bigint; owner: string } | null {
    const count = Number(nextId - FIRST_ASSET_ID)
    for (let tries = 0; tries < MAX_TRIES && count > 0; tries++) {
      const id = FIRST_ASSET_ID + BigInt(random.below(count))
      const owner = this.#owners.get(id)
      if (owner !== undefined && !this.hasCode(owner)) return { id, owner }
    }
    return null
  }

  /** Whether an account is a contract, which reacts to notifications. */
  hasCode(account: string): boolean {
    return this.#state.accounts.get(nameValue(account))?.codeHash != null
  }

  #findTreasury(token: string): Treasury | null {
    const tables = [...this.#state.rows.tables()]
    const accounts = tables.filter(
      (table) => table.code === nameValue(token) && table.table === nameValue('accounts'),
    )
    let best: (Treasury & { amount: bigint }) | null = null
    for (const table of accounts) {
      const account = nameText(table.scope)
      for (const [key, row] of table.rows) {
        const amount = row.value.readBigInt64LE(0)
        if (!this.hasCode(account) && (best === null || amount > best.amount)) {
          best = { token, account, key, amount }
        }
      }
    }
    return best
  }

  #readPeople(): void {
    for (const { name } of this.#state.accounts.values()) {
      const text = nameText(name)
      if (text.endsWith(ACCOUNT_SUFFIX)) this.people.push(text)
    }
  }

  #readCollections(): void {
    for (const table of this.#state.rows.tables()) {
      if (table.code !== nameValue(ASSETS_ACCOUNT)) continue
      if (table.table === nameValue('assets')) {
        for (const id of table.rows.keys()) this.#owners.set(id, nameText(table.scope))
      } else if (table.table === nameValue('collections')) {
        for (const key of table.rows.keys()) this.#readCollection(key)
      }
    }
  }

  #readCollection(key: bigint): void {
    const row = this.#runtime.row(ASSETS_ACCOUNT, 'collections', ASSETS_ACCOUNT, key)!
    if (!row.author.endsWith(ACCOUNT_SUFFIX)) return
    const keysOf = (table: string): bigint[] => {
      const rows = this.#state.rows.table(nameValue(ASSETS_ACCOUNT), key, nameValue(table))?.rows
      return [...(rows?.keys() ?? [])].sort((a, b) => (a < b ? -1 : 1))
    }
    this.collections.push({
      name: row.collection_name,
      author: row.author,
      schemas: keysOf('schemas').map(nameText),
      templates: keysOf('templates').map(Number),
    })
  }
}
