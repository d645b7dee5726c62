import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { transferParameters } from '../parameters.ts'
import type { TransferValues } from '../parameters.ts'
import { transferList } from '../lists/transfer-list.ts'
import { countTransfersFromCounters, countTransfersOfAccount } from '../aggregates/trade-counters.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countEndpointOf, runCount, runList } from '../../nft/endpoints/index.ts'

/** Endpoints of transfers: list and count. */
export function transferEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords<TransferValues> = {
    lists: setup.lists,
    list: ({ session, values }) => transferList(setup.lists, session, values),
    kind: setup.records.transfer,
    counted: async (context) =>
      (await countTransfersFromCounters(context)) ?? (await countTransfersOfAccount(context)),
  }
  const list = endpoint({
    path: '/v1/transfers',
    tag: 'transfers',
    summary: 'Transfers',
    parameters: transferParameters(setup.limits.transfers),
    record: shape.list(setup.records.transfer.schema),
    run: runList(records),
  })
  return [list, countEndpointOf(list, runCount(records))]
}
