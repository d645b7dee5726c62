import type { Json } from '../../../json/index.ts'
import type { Fragment } from '../../../records/fragments/index.ts'
import { jsonBytes, jsonSize, LateJson } from '../../../json/index.ts'
import { dataMembers, findName, overlayDataMap, splitDataMap } from '../../../json/maps/index.ts'
import { collectionObject } from './collections.ts'
import { templateData, templateFlags, templateMaps, templateObject } from './templates.ts'

/** Members that all assets of a template have in common; for assets without a template, those of their schema. */
interface SharedMembers {
  /** The collection's fragment that the members were assembled from, to notice a new version. */
  readonly collection: Fragment
  readonly schema: Fragment
  /** The members of collection, schema and template. */
  readonly nested: Json
  /** `,"data":…,"name":…` of assets without attributes of their own. */
  readonly data: Json
}

/**
 * Assembled members by the fragment of the template, or of the schema for assets without a template. An entry lives as
 * long as its fragment.
 */
const assembled = new WeakMap<Fragment, SharedMembers>()

/** Texts above this size are not copied into a record; the answer refers to the fragment's text until it is written. */
const COPIED_BYTES = 16_384
/** Bytes of the separator between two joined maps, and of the punctuation around the name. */
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

/** JSON that many records share: encoded once, unless it is large. */
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

/**
 * The members of an asset from its collection, schema and template; the asset's own attributes overlay those of the
 * template.
 */
export function sharedMembers(shared: readonly Fragment[], mutableData: string, immutableData: string): Json {
  const { nested, data } = commonMembers(shared)
  if (mutableData === '' && immutableData === '') return [nested, data]
  const write = (): string => `,${mergedData(shared[2], mutableData, immutableData)}`
  const sharedBytes = jsonSize(data)
  if (sharedBytes + mutableData.length + immutableData.length <= COPIED_BYTES) return [nested, write()]
  const ownSize = ownBytes(mutableData) + ownBytes(immutableData)
  return [nested, new LateJson(sharedBytes + ownSize + SEPARATORS, write)]
}

/** Size of the asset's own attributes in its record; the name counts twice, because the record repeats it. */
function ownBytes(data: string): number {
  return Buffer.byteLength(data) + Buffer.byteLength(findName(data) ?? '')
}

/**
 * Merged attributes. Later maps overlay earlier ones: mutable of the template, mutable of the asset, immutable of the
 * asset, immutable of the template.
 */
function mergedData(template: Fragment | undefined, mutableData: string, immutableData: string): string {
  const { immutable, mutable } = template ? templateMaps(template) : noMaps
  const own = overlayDataMap(splitDataMap(mutableData), splitDataMap(immutableData))
  return dataMembers(overlayDataMap(overlayDataMap(mutable, own), immutable))
}

const noMaps: Pick<ReturnType<typeof templateMaps>, 'immutable' | 'mutable'> = { immutable: [], mutable: [] }
