import { connectDatabase } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import { immutableData, mutableData } from './asset-data.ts'
import { assetId, NONE } from './assets.ts'
import type { Catalogue } from './catalogue.ts'
import { blockTime } from './chain-clock.ts'
import { CopySink } from './copy-sink.ts'
import type { History } from './history.ts'
import { accountName } from './names.ts'

const assetColumns = [
  'asset_id, minted_at_time, transferred_at_time, updated_at_time, burned_at_time, minted_seq, minted_at_block, transferred_at_block, updated_at_block, burned_at_block, template_id, template_mint, collection_name, schema_name, owner, ram_payer, minter, initial_receiver, burned_by_account, immutable_data, mutable_data',
]
/** One asset in this many has backed tokens. */
const BACKED_EVERY = 211

/** Writes the assets in their final state. */
export async function writeAssets(
  address: DatabaseAddress,
  { collections }: Catalogue,
  { assets }: History,
): Promise<void> {
  const rows = await CopySink.open(address, 'assets.assets', assetColumns)
  for (let at = 0; at < assets.count; at++) {
    const collection = collections[assets.collection[at]!]!
    const template = assets.template[at]!
    const isBurned = assets.isBurned(at)
    const owner = isBurned ? null : accountName(assets.owner[at]!)
    const data = immutableData(at, template)
    const isFull = rows.add([
      assetId(at),
      blockTime(assets.mintedBlock[at]!),
      blockTime(assets.transferredBlock[at]!),
      blockTime(assets.updatedBlock[at]!),
      isBurned ? blockTime(assets.updatedBlock[at]!) : null,
      assets.mintedSeq[at]!,
      assets.mintedBlock[at]!,
      assets.transferredBlock[at]!,
      assets.updatedBlock[at]!,
      isBurned ? assets.updatedBlock[at]! : null,
      template === NONE ? null : template,
      template === NONE ? null : assets.mint[at]!,
      collection.name,
      collection.schemas[assets.schema[at]!]!.name,
      owner,
      owner,
      collection.minters[assets.minter[at]!]!,
      accountName(assets.receiver[at]!),
      isBurned ? accountName(~assets.owner[at]!) : null,
      data && JSON.stringify(data),
      mutableData(at, assets.level[at]!, assets.xp[at]!),
    ])
    if (isFull) await rows.flush()
  }
  await rows.close()
}

/** Writes which assets are in open offers. */
export async function writeOpenOffers(address: DatabaseAddress, { offers }: History): Promise<void> {
  const pairs = await CopySink.open(address, 'assets.open_offer_assets', ['asset_id', 'offer_id'])
  for (const pair of offers.openAssets()) if (pairs.add(pair)) await pairs.flush()
  await pairs.close()
}

/** SQL that derives, in one pass, the values that the filler maintains row by row. The result is the same. */
const DERIVED = `
  INSERT INTO assets.backed_tokens (asset_id, token_symbol, amount)
    SELECT asset_id, 'WAX', 100000000 * (1 + asset_id % 7) FROM assets.assets WHERE asset_id % ${BACKED_EVERY} = 0;
  INSERT INTO assets.accounts SELECT owner, count(*) FROM assets.assets WHERE owner IS NOT NULL GROUP BY 1;
  INSERT INTO assets.collection_counts
    SELECT collection_name, count(*), count(*) FILTER (WHERE owner IS NULL) FROM assets.assets GROUP BY 1;
  INSERT INTO assets.schema_counts
    SELECT collection_name, schema_name, count(*), count(*) FILTER (WHERE owner IS NULL) FROM assets.assets GROUP BY 1, 2;
  INSERT INTO assets.template_counts
    SELECT template_id, count(*), count(*) FILTER (WHERE owner IS NULL) FROM assets.assets
    WHERE template_id IS NOT NULL GROUP BY 1;
  INSERT INTO assets.burners
    SELECT burned_by_account, count(*) FROM assets.assets WHERE burned_by_account IS NOT NULL GROUP BY 1;
  INSERT INTO assets.collection_accounts
    SELECT collection_name, owner, count(*) FROM assets.assets WHERE owner IS NOT NULL GROUP BY 1, 2;
  INSERT INTO assets.transfer_counts SELECT collection_name, count(*) FROM assets.transfers GROUP BY 1;
  INSERT INTO assets.offer_counts SELECT state, count(*) FROM assets.offers GROUP BY 1;`

/** Writes counters and other derived values, and a reader's position at the last block. */
export async function writeDerived(address: DatabaseAddress, lastBlock: number): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    await client.query(DERIVED)
    await client.query(
      `INSERT INTO chain.readers (name, start_block, block_num, block_time, block_id) VALUES ('generated', 1, $1, $2, $3)`,
      [lastBlock, blockTime(lastBlock), Buffer.alloc(32, 7)],
    )
  } finally {
    await client.end()
  }
}
