import { createHash } from 'node:crypto'
import { shownAddress } from '../../core/chain-node/index.ts'

/** A URL that returns named lists, from a reader's `list_polls` setting. */
export interface ListSource {
  /** Key of the list source in the database. */
  readonly key: string
  readonly reader: string
  readonly url: string
  readonly apiKey: string | undefined
  /** Seconds between two requests of the lists. */
  readonly frequency: number
  /** The URL without user, password, query and fragment, which may contain secrets; for logs and reports. */
  readonly address: string
}

/** The settings of a reader that configure list sources. */
export interface ListSettings {
  readonly name: string
  readonly list_polls: readonly {
    readonly url: string
    readonly api_key?: string | undefined
    readonly frequency: number
  }[]
}

/** List sources of all readers. A URL that a reader names twice is one source. */
export function listSources(readers: readonly ListSettings[]): ListSource[] {
  const sources = readers.flatMap((reader) =>
    reader.list_polls.map(({ url, api_key, frequency }) => ({
      key: `${reader.name}:${createHash('sha256').update(url).digest('hex').slice(0, 16)}`,
      reader: reader.name,
      url,
      apiKey: api_key,
      frequency,
      address: shownAddress(url),
    })),
  )
  return [...new Map(sources.map((source) => [source.key, source])).values()]
}
