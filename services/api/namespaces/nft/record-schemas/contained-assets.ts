import { shape } from '../../../endpoint/index.ts'
import type { NamedSchema, RecordSchema } from '../../../endpoint/index.ts'

/** The shape of a list of assets inside another record. */
export function containedAssets(asset: NamedSchema, description: string): RecordSchema {
  return shape.list(shape.anyOf([asset, shape.decimal('Id of an asset that is not known')]), description)
}
