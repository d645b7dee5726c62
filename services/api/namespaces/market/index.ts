import type { PageLimits } from '../page-limits.ts'
import type { Session } from '../../database/index.ts'
import type { Endpoint, Namespace, RecordReader } from '../../endpoint/index.ts'
import type { RecordSettings } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'
import type { AssetsSetup } from '../assets/index.ts'
import { assetsRecordKinds } from '../assets/index.ts'
import { createListReader } from '../nft/endpoints/index.ts'
import { marketEndpoints } from './endpoints/endpoints.ts'
import { marketRecords } from './live-records.ts'
import { marketTables } from './lists/listing-table.ts'
import { assetsContract } from './records/config.ts'
import { marketAssets } from './records/asset-members.ts'
import { marketRecordKinds } from './records/kinds.ts'
import type { MarketSetup } from './setup.ts'

export interface MarketNamespaceOptions {
  /** Account of the market contract. */
  readonly contract: string
  /** Assets contract account; undefined until the settings of the market contract have named it. */
  readonly assetsContract: string | undefined
  readonly limits: PageLimits
  /** Cached fragments of the rows that several records share. */
  readonly shared: Fragments
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  /** Whether `/v1/sales` has the page limit and the default states of `/v2/sales`. */
  readonly disableV1Sales: boolean
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly clock?: () => number
}

/** The market namespace: listings, prices, statistics, royalties, and assets with their prices. */
export function createMarketNamespace(options: MarketNamespaceOptions): Namespace {
  const { contract, shared, limits, trigrams, disableV1Sales, clock = Date.now } = options
  const lists = createListReader(marketTables)
  const named: { assets?: string } = {}
  const contractOfAssets = (): string => named.assets ?? options.assetsContract ?? ''
  const given = { market_contract: `"${contract}"`, contract: `"${contractOfAssets()}"` }
  const settings: RecordSettings = { clock, given }
  const assets: AssetsSetup = {
    get contract() {
      return contractOfAssets()
    },
    shared,
    settings,
    limits,
    trigrams,
    lists,
    records: assetsRecordKinds(shared, settings, marketAssets),
  }
  const records = marketRecordKinds(shared, settings)
  const setup: MarketSetup = {
    contract,
    limits,
    trigrams,
    disableV1Sales,
    assets,
    lists,
    records,
    clock,
  }
  /**
   * Reads the account of the assets contract from the stored settings of the market contract, until the account is
   * known. The filler may store the settings after the first request.
   */
  async function learnContract(session: Session): Promise<void> {
    if (named.assets !== undefined) return
    const found = await assetsContract(session)
    if (found === undefined) return
    named.assets = found
    given.contract = `"${found}"`
  }
  return {
    name: 'market',
    endpoints: marketEndpoints(setup).map((endpoint): Endpoint => ({
      ...endpoint,
      run: async (context) => {
        await learnContract(context.session)
        return endpoint.run(context)
      },
    })),
    records: Object.fromEntries(
      Object.entries(marketRecords(setup)).map(([kind, { read, ...reader }]): [string, RecordReader] => [
        kind,
        {
          ...reader,
          read: async (session, keys) => {
            await learnContract(session)
            return read(session, keys)
          },
        },
      ]),
    ),
    forget() {
      delete named.assets
      given.contract = `"${contractOfAssets()}"`
      shared.clear()
      lists.clear()
    },
  }
}
