import type { ChainSource } from '../sources/index.ts'
import type { FormatField, Formats } from '../../core/model/contract/index.ts'
import type { ChainRow } from '../tables/index.ts'

/** The chain's attribute formats, which decode attribute data. */
export class ChainFormats implements Formats {
  collectionFormat: readonly FormatField[] = []
  readonly #source: ChainSource
  readonly #contract: string
  readonly #schemas = new Map<string, readonly FormatField[]>()

  private constructor(source: ChainSource, contract: string) {
    this.#source = source
    this.#contract = contract
  }

  /** Reads the formats of the assets contract, of all collections or of one collection. */
  static async read(source: ChainSource, contract: string, collection?: string): Promise<ChainFormats> {
    const formats = new ChainFormats(source, contract)
    for await (const rows of source.rows(contract, 'config'))
      for (const { data } of rows) formats.collectionFormat = data.collection_format as FormatField[]
    for await (const rows of source.rows(contract, 'schemas', collection))
      rows.forEach((row) => formats.#take(row))
    return formats
  }

  readonly formatOf = (collection: string, schema: string): readonly FormatField[] =>
    this.#schemas.get(`${collection}/${schema}`) ?? []

  /** Reads the formats of the given schemas again, because they may have changed. */
  async refresh(
    schemas: Iterable<readonly [collection: string, schema: string, primary: bigint]>,
  ): Promise<void> {
    for await (const rows of this.#source.rows(this.#contract, 'config'))
      for (const { data } of rows) this.collectionFormat = data.collection_format as FormatField[]
    for (const [collection, , primary] of schemas) {
      const row = await this.#source.row(this.#contract, 'schemas', { scope: collection, primary })
      if (row) this.#take(row)
    }
  }

  #take({ scope, data }: ChainRow): void {
    this.#schemas.set(`${scope}/${String(data.schema_name)}`, data.format as FormatField[])
  }
}
