import type { Json } from '../../../json/index.ts'
import type { Fragment } from '../../../records/fragments/index.ts'
import { jsonBytes, jsonSize, LateJson } from '../../../json/index.ts'
import { dataMembers, findName, overlayDataMap, splitDataMap } from '../../../json/maps/index.ts'
import { collectionObject } from './collections.ts'
import { templateData, templateFlags, templateMaps, templateObject } from './templates.ts'

/** Members that are equal in all assets of a template, or of a schema if the assets have no template. */
interface SharedMembers {
  /** The fragments that it was assembled from, other than the one of its key. */
  readonly collection: Fragment
  readonly schema: Fragment
  /** Collection, schema, template. */
  readonly nested: Json
  /** `,"data":…,"name":…` of those without attributes of their own. */
  readonly data: Json
}

/** By template, or by schema where there is none; these live as long as their fragments. */
const assembled = new WeakMap<Fragment, SharedMembers>()

/** Larger texts are not copied into a record: the fragments hold them until the answer is written. */
const COPIED_BYTES = 16_384
/** Bytes between two maps that become one, and around the name. */
const SEPARATORS = 32

function commonMembers([collection, schema, template]: readonly Fragment[]): SharedMembers {
  const key = template ?? schema!
  const known = assembled.get(key)
  if (known?.collection === collection && known?.schema === schema) return known!
  const nested = sharedPiece([nestedObjects(collection!, schema!), ',', templateOfAsset(template)])
  const data = sharedPiece([',', template ? templateData(template) : '"data":{}'])
  const members = { collection: collection!, schema: schema!, nested, data }
  assembled.set(key, members)
  return members
}

/** A piece that many records share: encoded once, unless it is large. */
function sharedPiece(json: Json): Json {
  const size = jsonSize(json)
  return size > COPIED_BYTES ? new LateJson(size, () => json) : jsonBytes(json, size)
}

/** The members `collection` and `schema` of other records. */
export function nestedObjects(collection: Fragment, schema: Fragment): Json {
  return ['"collection":', collectionObject(collection), ',"schema":{', schema.texts[0]!, '}']
}

function templateOfAsset(template: Fragment | undefined): Json {
  if (!template) return '"is_transferable":true,"is_burnable":true,"template":null'
  return [templateFlags(template), ',"template":', templateObject(template)]
}

/** The members that an asset has of its collection, schema and template, and those that overlay its attributes with theirs. */
export function sharedMembers(shared: readonly Fragment[], mutableData: string, immutableData: string): Json {
  const { nested, data } = commonMembers(shared)
  if (mutableData === '' && immutableData === '') return [nested, data]
  const write = (): string => `,${mergedData(shared[2], mutableData, immutableData)}`
  const sharedBytes = jsonSize(data)
  if (sharedBytes + mutableData.length + immutableData.length <= COPIED_BYTES) return [nested, write()]
  const ownSize = ownBytes(mutableData) + ownBytes(immutableData)
  return [nested, new LateJson(sharedBytes + ownSize + SEPARATORS, write)]
}

/** Bytes of attributes among those of all, with their name, which is shown once more. */
function ownBytes(data: string): number {
  return Buffer.byteLength(data) + Buffer.byteLength(findName(data) ?? '')
}

/** Attributes of the template that may change, of the asset that may change, of the asset, of the template. */
function mergedData(template: Fragment | undefined, mutableData: string, immutableData: string): string {
  const { immutable, mutable } = template ? templateMaps(template) : noMaps
  const own = overlayDataMap(splitDataMap(mutableData), splitDataMap(immutableData))
  return dataMembers(overlayDataMap(overlayDataMap(mutable, own), immutable))
}

const noMaps: Pick<ReturnType<typeof templateMaps>, 'immutable' | 'mutable'> = { immutable: [], mutable: [] }
