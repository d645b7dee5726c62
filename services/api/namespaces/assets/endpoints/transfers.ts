import type { Endpoint } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  assetFilter,
  boundaries,
  collectionLists,
  counting,
  paging,
  sorting,
} from '../../parameter-groups/index.ts'
import { transferList } from '../lists/index.ts'
import { countTransfersFromCounters, countTransfersOfAccount } from '../counters/index.ts'
import { transferRecord } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from './list.ts'
import { countTwin, runCount, runList } from './list.ts'
import { partyParameters } from './offers.ts'

/** `/v1/transfers` and its count. */
export function transferEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords = {
    lists: setup.lists,
    list: ({ session, values }) => transferList(setup.lists, session, values),
    kind: setup.records.transfer,
    counted: async (context) =>
      (await countTransfersFromCounters(context)) ?? (await countTransfersOfAccount(context)),
  }
  const list: Endpoint = {
    path: '/v1/transfers',
    tag: 'transfers',
    summary: 'Transfers',
    parameters: [
      ...paging(setup.limits.transfers),
      ...sorting(['created']),
      counting,
      ...partyParameters,
      ...assetFilter,
      ...collectionLists,
      ...boundaries({ name: 'transfer_id', type: 'id' }),
    ],
    record: shape.list(transferRecord(setup.assetSchema)),
    run: runList(records),
  }
  return [list, countTwin(list, runCount(records))]
}
