import type { RecordReader } from '../../endpoint/index.ts'
import type { RecordRenderer } from './records/index.ts'
import {
  collectionRecord,
  offerRecord,
  offerRenderer,
  renderCollections,
  renderSchemas,
  renderTemplates,
  schemaRecord,
  templateRecord,
  transferRecord,
  transferRenderer,
} from './records/index.ts'
import type { AssetsSetup } from './setup.ts'

/** The records that events of the namespace tell of. Keys of schemas are `collection/schema`. */
export function assetsRecords(setup: AssetsSetup): Record<string, RecordReader> {
  const { contract, parts, view } = setup
  const reader = (schema: RecordReader['schema'], render: RecordRenderer): RecordReader => ({
    schema,
    read: (session, keys) => render(session, contract, parts, keys),
  })
  return {
    asset: reader(view.record, view.render),
    collection: reader(collectionRecord, renderCollections),
    schema: reader(schemaRecord, renderSchemas),
    template: reader(templateRecord, renderTemplates),
    offer: reader(offerRecord(view.record), offerRenderer(view.render)),
    transfer: reader(transferRecord(view.record), transferRenderer(view.render)),
  }
}
