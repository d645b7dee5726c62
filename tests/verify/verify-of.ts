import type { SourceChoice } from '../../services/verify/engine/verify-database.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { ActivityMix } from '../../services/devchain/index.ts'
import { verifyDatabase } from '../../services/verify/engine/verify-database.ts'
import type { VerifyDatabaseOptions } from '../../services/verify/index.ts'
import type { VerifyReport } from '../../services/verify/engine/report.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { testSettings } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** Settings that store everything, including the packed rows of the contracts. */
export const keepingSettings = {
  contracts: [
    ...testSettings.contracts,
    {
      handler: 'state',
      args: {
        accounts: ['atomicassets', 'atomicmarket', 'delphioracle', 'atomictoolsx'],
        permissions: true,
        history_blocks: 0,
      },
    },
  ],
}

/** Mix of all activities of the generator. Rare activities have a higher weight than usual. */
export const broadMix: ActivityMix = {
  newAccount: 1,
  newCollection: 1,
  editCollection: 1,
  newSchema: 0.5,
  extendSchema: 0.5,
  newTemplate: 3,
  editTemplate: 2,
  deleteTemplate: 0.5,
  mint: 24,
  transfer: 12,
  editAsset: 8,
  createOffer: 6,
  acceptOffer: 2,
  declineOffer: 1,
  cancelOffer: 1,
  burn: 2,
  deploy: 20,
  newMarketplace: 1,
  changeBonusFee: 4,
  changeRoyalties: 12,
  withdraw: 1,
  writePrices: 5,
  announceSale: 24,
  startSale: 2,
  purchaseSale: 8,
  cancelSale: 1,
  announceAuction: 5,
  startAuction: 2,
  bid: 5,
  claimAuction: 3,
  cancelAuction: 1,
  createBuyoffer: 5,
  acceptBuyoffer: 2,
  declineBuyoffer: 1,
  createTemplateBuyoffer: 4,
  fulfillTemplateBuyoffer: 2,
  announceLink: 6,
  startLink: 3,
  claimLink: 2,
  cancelLink: 1,
}

/**
 * A chain with every kind of activity, and the settings to index it. The recorded blocks are some days older than the
 * generated blocks.
 */
export const broadChain = {
  chain: {
    ...{ recordings: ['main', 'v2'], blocks: 240, rate: 8, seed: 5, mix: broadMix },
    startTimeMs: Date.UTC(2026, 10, 25),
  },
  settings: keepingSettings,
}

/**
 * Creates a database that a reader has filled from the broad chain. The database is in memory, so a page costs little:
 * at the default cost, 4, PostgreSQL reads all assets once for each offer and each sale that `verify` checks, in place
 * of an index.
 */
export async function createBroadDatabase(): Promise<TestDatabase> {
  const database = await createIndexedDatabase(broadChain)
  const client = await connectDatabase(database.address, { applicationName: 'test' })
  await client.query(`ALTER DATABASE ${database.address.database} SET random_page_cost = 1.1`)
  await client.end()
  return database
}

/** Compares a database with the source and returns the report of `verify`. */
export async function verifyOf(
  address: DatabaseAddress,
  source: SourceChoice,
  more: Partial<VerifyDatabaseOptions> = {},
): Promise<VerifyReport> {
  const { report } = await verifyDatabase(address, {
    source,
    signal: new AbortController().signal,
    ...more,
  })
  return report
}
