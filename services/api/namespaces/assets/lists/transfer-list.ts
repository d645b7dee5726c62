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

/** Column with the collection of a transfer. All assets of the transfer belong to this collection. */
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
  // Filters on the assets of a transfer select the fewest rows, so they come first.
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
        // Transfers have no time column. The table of blocks maps the sequence number of a transfer to its time.
        time: { keysOf: blocks },
      },
      values.transfer_id,
    ),
  ]
  const direction = directionOf(values)
  // Read the newest transfers via the assets that moved last, if the request filters only on contained assets. With
  // other filters these transfers may not fill a page, and assets that are not transferable rarely moved.
  const isOfMovedAssets = contained?.isFixed === false && values.asset_id === undefined && others.length === 0
  const driving =
    isOfMovedAssets && direction === 'DESC'
      ? { driving: newestTransfers(contained, ofAssets, containing, pageWindow(values)) }
      : {}
  const order: Order = { direction, segments: [{ rank: 0, column: 'transfer_id', ...driving }] }
  return { source: transferSource, table: TRANSFERS, filters: [...ofAssets, ...others], order }
}

/**
 * @param home collections of the requested templates or schemas. If the request names all these collections, the
 * filters on the assets of the transfers already select the collections, and the result is empty.
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
