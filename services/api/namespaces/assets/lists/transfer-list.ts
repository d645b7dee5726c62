import { raw } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader, Statistics } from '../../../planner/index.ts'
import type { Order, Source } from '../../../planner/sources/index.ts'
import { directionOf, pageWindow } from '../../nft/paging/index.ts'
import { wantedCollections } from '../../nft/conditions/index.ts'
import { boundaryFilters, nameFilter } from '../../nft/filters/index.ts'
import { collectionFilter } from './collection-filters.ts'
import { blocks, containedFilters, newestTransfers, resolveContained, TRANSFERS } from './contained-assets.ts'
import type { ContainingTable } from './contained-assets.ts'
import { partyFilters } from './party-filters.ts'
import type { TransferValues } from '../parameters.ts'

const transferSource: Source = {
  from: raw('assets.transfers t'),
  alias: 't',
  key: 'transfer_id',
  indexes: [
    { name: 'transfers_pkey', columns: ['transfer_id'] },
    { name: 'transfers_sender_idx', columns: ['sender', 'transfer_id'] },
    { name: 'transfers_recipient_idx', columns: ['recipient', 'transfer_id'] },
    { name: 'transfers_collection_idx', columns: ['collection_name', 'transfer_id'] },
  ],
}

/**
 * The column with the collection of a transfer, for filters on collections. All assets of a transfer belong to this
 * collection.
 */
const collectionTransfers = { table: TRANSFERS, alias: 't', column: 'collection_name' } as const

/**
 * List of the requested transfers.
 * @throws RequestError 400 when `account` comes with `sender` or `recipient`.
 */
export async function transferList(
  reader: ListReader,
  session: Session,
  values: TransferValues,
): Promise<List> {
  if (values.account !== undefined && (values.sender !== undefined || values.recipient !== undefined)) {
    throw new RequestError(400, 'Can not use account and sender or recipient filters at the same time')
  }
  const { statistics } = reader
  await statistics.refresh(session)
  const contained = await resolveContained(session, values, statistics, true)
  const containing: ContainingTable = {
    table: TRANSFERS,
    alias: 't',
    key: 'transfer_id',
    ids: (alias) => raw(`${alias}.asset_ids`),
    ofCollections: (names) => ({
      ...nameFilter('collection_name', names, statistics, collectionTransfers),
      group: 'contained',
    }),
    atOnce: 16,
  }
  // The filters on the assets of a transfer come first in the list of filters, because they select the fewest rows.
  const ofAssets = containedFilters(values, contained, statistics, containing)
  const others = [
    ...collectionFilters(values, contained?.home?.collections, statistics),
    ...partyFilters(values, statistics, { table: TRANSFERS, alias: 't' }),
    ...boundaryFilters(
      values,
      statistics,
      {
        table: TRANSFERS,
        alias: 't',
        key: 'transfer_id',
        type: 'bigint',
        // Transfers have no time column. Their ids are sequence numbers, and the table of blocks maps a time to the
        // first sequence number of a block.
        time: { keysOf: blocks },
      },
      values.transfer_id,
    ),
  ]
  const direction = directionOf(values)
  // Access path `newestTransfers`: reads the assets that moved last, then the transfers of these assets. The path
  // requires that all filters concern the contained assets: other filters reject some of the found transfers, so the
  // page might not be full. The path is not used for assets that are not transferable, because such assets rarely
  // moved.
  const isOfMovedAssets = contained?.isFixed === false && values.asset_id === undefined && others.length === 0
  const driving =
    isOfMovedAssets && direction === 'DESC'
      ? { driving: newestTransfers(contained, ofAssets, containing, pageWindow(values)) }
      : {}
  const order: Order = { direction, segments: [{ rank: 0, column: 'transfer_id', ...driving }] }
  return { source: transferSource, table: TRANSFERS, filters: [...ofAssets, ...others], order }
}

/**
 * Filters on the collection of a transfer. Returns no filter if the request names all collections of `home`: the
 * filters on the contained assets then select these collections already.
 * @param home collections of the requested templates or schemas.
 */
function collectionFilters(
  values: TransferValues,
  home: readonly string[] | undefined,
  statistics: Statistics,
): Filter[] {
  const wanted = wantedCollections(values)
  if (wanted && home?.every((each) => wanted.includes(each))) return []
  return collectionFilter(values, statistics, collectionTransfers).map((filter) => ({
    ...filter,
    group: 'contained',
  }))
}
