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
import {
  countTransfers,
  countTransfersFromCounters,
  countTransfersOfAccount,
  transferQuery,
} from '../queries/index.ts'
import { transferRecord, transferRenderer } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from './list.ts'
import { countTwin, runCount, runList } from './list.ts'
import { partyParameters } from './offers.ts'

/** `/v1/transfers` and its count. */
export function transferEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords = {
    setup,
    query: ({ session, values }) => transferQuery(session, values),
    kind: 'transfer',
    render: transferRenderer(setup.view.render),
    kept: async (context) =>
      (await countTransfersFromCounters(context)) ??
      (await countTransfersOfAccount(context)) ??
      (await countTransfers(context.session, context.values)),
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
    record: shape.list(transferRecord(setup.view.record)),
    run: runList(records),
  }
  return [list, countTwin(list, runCount(records))]
}
