import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hexToBytes } from '../../core/bytes/index.ts'
import { normalizeAbiJson } from '../../core/antelope/abi/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { RowDecoder } from '../decode/index.ts'
import type { ChainRow } from '../tables/index.ts'
import type { ChainSource } from './source.ts'

interface FolderRow {
  readonly data: Record<string, unknown>
  readonly hex?: string
}

/**
 * Reads a folder of table files. `<contract>.<table>.json` contains an object from scope to `{ rows: [{ data, hex }]
 * }`. `<contract>.abi.json` contains the ABI that decodes `hex`; without this ABI or without `hex`, `data` is the
 * decoded row. A table that the ABI lacks has no rows. Any other table without a file cannot be compared.
 */
export class FolderSource implements ChainSource {
  readonly description: string
  readonly isFixed = true
  readonly isWhole = true
  readonly absenceDoubt = null
  readonly #folder: string
  readonly #decoder: RowDecoder
  /** Names of the tables in the ABI of each contract; null without an ABI. */
  readonly #loaded = new Map<string, ReadonlySet<string> | null>()
  #decoded = false

  /** @throws FatalError `USAGE` if the folder does not exist, which would otherwise look like a chain without rows. */
  static async open(folder: string, decoder: RowDecoder): Promise<FolderSource> {
    await readdir(folder).catch((cause: unknown) => {
      throw new FatalError('USAGE', `the folder ${folder} cannot be read`, { cause })
    })
    return new FolderSource(folder, decoder)
  }

  private constructor(folder: string, decoder: RowDecoder) {
    this.description = `table files of ${folder}`
    this.#folder = folder
    this.#decoder = decoder
  }

  get decoder(): string | null {
    return this.#decoded ? this.#decoder.name : null
  }

  async answers(contract: string, table: string): Promise<boolean> {
    const tables = await this.#loadAbi(contract)
    return (tables !== null && !tables.has(table)) || (await this.#read(fileOf(contract, table))) !== null
  }

  async *rows(contract: string, table: string, scope?: string): AsyncGenerator<readonly ChainRow[]> {
    const content = (await this.#read(fileOf(contract, table))) as Record<
      string,
      { rows: FolderRow[] }
    > | null
    if (content === null) return
    const hasAbi = (await this.#loadAbi(contract)) !== null
    for (const [name, { rows }] of Object.entries(content)) {
      if (scope !== undefined && name !== scope) continue
      yield rows.map(({ data, hex }) => {
        if (!hasAbi || hex === undefined) return { scope: name, data }
        this.#decoded = true
        return { scope: name, data: this.#decoder.decode(contract, table, hexToBytes(hex)) }
      })
    }
  }

  row(): Promise<never> {
    throw new Error('a folder source only reads whole tables')
  }

  head(): Promise<null> {
    return Promise.resolve(null)
  }

  async #loadAbi(contract: string): Promise<ReadonlySet<string> | null> {
    const known = this.#loaded.get(contract)
    if (known !== undefined) return known
    const file = await this.#read(`${contract}.abi.json`)
    const abi = file === null ? null : normalizeAbiJson(file)
    if (abi !== null) this.#decoder.load(contract, abi)
    const tables = abi && new Set(abi.tables.map(({ name }) => name))
    this.#loaded.set(contract, tables)
    return tables
  }

  async #read(file: string): Promise<unknown> {
    const path = join(this.#folder, file)
    try {
      return JSON.parse(await readFile(path, 'utf8')) as unknown
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw new FatalError('USAGE', `${path} cannot be read as JSON`, { cause })
    }
  }
}

const fileOf = (contract: string, table: string) => `${contract}.${table}.json`
