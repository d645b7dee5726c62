import {
  assetsContract,
  marketContract,
  oracleContract,
  toolsContract,
} from '../../core/model/contract/index.ts'
import type { VerifiedTable } from './table.ts'
import { verifiedTable } from './verified.ts'
export { labelOf, placesOf } from './table.ts'
export type { ComparedRow, Place, VerifiedTable, Children, Column, RowValues, ChainRow } from './table.ts'

/** A database imported from eosio-contract-api lacks the RAM payer of a row until the row changes. */
const unknownPayer = {
  ram_payer: "t.ram_payer IS NULL AND EXISTS (SELECT 1 FROM chain.imports WHERE kind = 'database')",
}

/** Every compared table, with the condition of the rows that still exist on the chain. */
export const verifiedTables: readonly VerifiedTable[] = [
  verifiedTable(assetsContract.config, { where: 't.asset_counter IS NOT NULL' }),
  verifiedTable(assetsContract.tokenconfigs, {
    label: 'assets.config (tokenconfigs)',
    where: 't.version IS NOT NULL',
  }),
  verifiedTable(assetsContract.balances),
  verifiedTable(assetsContract.collections),
  verifiedTable(assetsContract.authorswaps),
  verifiedTable(assetsContract.schemas),
  verifiedTable(assetsContract.schematypes, {
    label: 'assets.schemas (types)',
    where: 't.types IS NOT NULL',
    clears: ['types'],
  }),
  verifiedTable(assetsContract.templates, {
    where: 't.deleted_at_block IS NULL',
    ended: 'deleted templates',
  }),
  verifiedTable(assetsContract.templates2, {
    label: 'assets.templates (mutable data)',
    where: 't.mutable_data IS NOT NULL AND t.deleted_at_block IS NULL',
    // Rows of the contract table `templates` also set collection_name and schema_name, so the entry above compares
    // these columns.
    fixed: ['collection_name', 'schema_name'],
    clears: ['mutable_data'],
  }),
  verifiedTable(assetsContract.assets, {
    where: 't.owner IS NOT NULL',
    ended: 'burned assets',
    unknown: unknownPayer,
  }),
  verifiedTable(assetsContract.offers, {
    where: 't.state IN (0, 1)',
    ended: 'ended offers',
    freeText: ['memo'],
    unknown: unknownPayer,
  }),
  verifiedTable(marketContract.config),
  verifiedTable(marketContract.counters),
  verifiedTable(marketContract.marketplaces),
  verifiedTable(marketContract.balances),
  verifiedTable(marketContract.bonusfees, { freeText: ['fee_name'] }),
  verifiedTable(marketContract.sales, { where: 't.state IN (0, 1, 4)', ended: 'ended sales' }),
  verifiedTable(marketContract.auctions, {
    where: 't.state < 2 AND NOT (t.claimed_by_buyer AND t.claimed_by_seller)',
    ended: 'ended auctions',
  }),
  verifiedTable(marketContract.buyoffers, {
    where: 't.state IN (0, 4)',
    ended: 'ended buy offers',
    freeText: ['memo'],
  }),
  verifiedTable(marketContract.tbuyoffers, { where: 't.state = 0', ended: 'ended template buy offers' }),
  verifiedTable(marketContract.royaltyconf),
  verifiedTable(marketContract.royaltytemp),
  verifiedTable(marketContract.royaltyattr, { freeText: ['field'] }),
  verifiedTable(oracleContract.pairs),
  verifiedTable(oracleContract.datapoints),
  verifiedTable(toolsContract.config),
  verifiedTable(toolsContract.links, {
    where: 't.state IN (0, 1)',
    ended: 'ended links',
    freeText: ['memo'],
  }),
]
