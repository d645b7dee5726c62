import { id, inPath, named } from '../../../../core/parameters/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { logParameters } from '../../nft/logs/index.ts'
import { listingKinds, listingTables } from '../lists/listing-table.ts'
import { selectMarketLogs } from '../lists/log-list.ts'
import { listingLog } from '../records/log-records.ts'
import type { MarketSetup } from '../setup.ts'

/** Endpoints `/logs` of each kind of listing. */
export function marketLogEndpoints(setup: MarketSetup): Endpoint[] {
  return listingKinds.map((kind) => {
    const { group, key, one } = listingTables[kind]
    const log = listingLog(kind, setup.records[kind].schema.title)
    return endpoint({
      path: `/v1/${group}/:${key}/logs`,
      tag: group,
      summary: `Log of the actions that concern the ${one}`,
      parameters: { ...named(key, inPath(id(`Id of the ${one}.`))), ...logParameters(setup.limits.logs) },
      record: shape.list(log.record.schema),
      run: ({ session, values }) =>
        selectMarketLogs(session, setup, values, { ...log, kind, id: values[key] }),
    })
  })
}
