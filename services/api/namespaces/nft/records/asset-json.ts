import type { Json } from '../../../json/index.ts'
import type { Fragment } from '../../../records/index.ts'
import { jsonBytes, jsonSize, LateJson } from '../../../json/index.ts'
import {
  dataMembers,
  findName,
  joinDataMap,
  nameOf,
  overlayDataMap,
  splitDataMap,
} from '../../../json/maps/index.ts'
import type { AssetFragments, AssetRow } from './asset-rows.ts'
import { collectionObject } from '../fragments/index.ts'

/**
 * The record of an asset without its closing brace.
 * @param backedTokens JSON array.
 */
export function assetMembers(
  contract: string,
  row: AssetRow,
  backedTokens: string,
  fragments: AssetFragments,
): Json[] {
  const [, , , , , mutableData, immutableData] = row
  const shared = sharedMembers(fragments)
  const own = ownMembers(contract, row, backedTokens, fragments.template !== undefined)
  if (mutableData === '' && immutableData === '') return [own, shared.nested, shared.data]
  const write = (): string => `,${mergedData(fragments.template, mutableData, immutableData)}`
  const sharedBytes = jsonSize(shared.data)
  if (sharedBytes + mutableData.length + immutableData.length <= COPIED_BYTES)
    return [own, shared.nested, write()]
  const maxBytes = sharedBytes + ownBytes(mutableData) + ownBytes(immutableData) + SEPARATORS
  return [own, shared.nested, new LateJson(maxBytes, write)]
}

/** Bytes of attributes among those of all, with their name, which is shown once more. */
function ownBytes(data: string): number {
  return Buffer.byteLength(data) + Buffer.byteLength(findName(data) ?? '')
}

/** Larger texts are not copied into a record: the fragments hold them until the answer is written. */
const COPIED_BYTES = 16_384
/** Bytes between two maps that become one, and around the name. */
const SEPARATORS = 32

function ownMembers(contract: string, row: AssetRow, backedTokens: string, hasTemplate: boolean): string {
  const [id, , , , owner, mutableData, immutableData, mint, burner, burnedBlock, burnedTime, ...times] = row
  const [updatedBlock, updatedTime, transferredBlock, transferredTime, mintedBlock, mintedTime] = times
  const burned =
    burner === '' && burnedBlock === '' && burnedTime === ''
      ? '"burned_by_account":null,"burned_at_block":null,"burned_at_time":null'
      : `"burned_by_account":${quotedOrNull(burner)},"burned_at_block":${quotedOrNull(burnedBlock)},` +
        `"burned_at_time":${quotedOrNull(burnedTime)}`
  // Only what happened before the reader's history has no number.
  const mintNumber = mint !== '' ? `"${mint}"` : hasTemplate && mintedBlock === '0' ? 'null' : '"0"'
  return (
    `{"contract":"${contract}","asset_id":"${id}","owner":${quotedOrNull(owner)},` +
    `"mutable_data":${mutableData || '{}'},"immutable_data":${immutableData || '{}'},` +
    `"template_mint":${mintNumber},"backed_tokens":${backedTokens},${burned},` +
    `"updated_at_block":${quotedOrUnknown(updatedBlock)},"updated_at_time":${quotedOrUnknown(updatedTime)},` +
    `"transferred_at_block":${quotedOrUnknown(transferredBlock)},"transferred_at_time":${quotedOrUnknown(transferredTime)},` +
    `"minted_at_block":${quotedOrUnknown(mintedBlock)},"minted_at_time":${quotedOrUnknown(mintedTime)},"original_mint":null,`
  )
}

export function quotedOrNull(text: string): string {
  return text === '' ? 'null' : `"${text}"`
}

/** A block or time; those from before the reader's history are 0 in the database. */
export function quotedOrUnknown(text: string): string {
  return text === '0' ? 'null' : `"${text}"`
}

/** What all assets of a template, or of a schema without one, have in common. */
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

function sharedMembers({ collection, schema, template }: AssetFragments): SharedMembers {
  const key = template ?? schema
  const known = assembled.get(key)
  if (known?.collection === collection && known.schema === schema) return known
  const nested = sharedPiece([nestedObjects(collection, schema), ',', templateMembers(template)])
  const data = sharedPiece([',', template ? templateData(template) : '"data":{}'])
  const members = { collection, schema, nested, data }
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

function templateMembers(template: Fragment | undefined): Json {
  if (!template) return '"is_transferable":true,"is_burnable":true,"template":null'
  return [`${template.texts[1]!},"template":`, templateObject(template)]
}

/** The object of a template inside other records. */
export function templateObject(template: Fragment): Json {
  return ['{', ownTemplateMembers(template), ',"data":', templateMaps(template).data, '}']
}

/** The members of a template up to its nested objects. */
export function ownTemplateMembers({ texts }: Fragment): Json {
  const [head, flags, immutableData, mutableData, tail] = texts
  return [
    `${head!},${flags!},"immutable_data":`,
    immutableData!,
    ',"mutable_data":',
    mutableData!,
    `,${tail!}`,
  ]
}

/** The members `data` and `name` of a template. */
export function templateData(template: Fragment): Json {
  const { data, name } = templateMaps(template)
  return ['"data":', data, name]
}

interface TemplateMaps {
  readonly immutable: ReturnType<typeof overlayDataMap>
  readonly mutable: ReturnType<typeof overlayDataMap>
  /** The text of both, and `,"name":…` where they have one. */
  readonly data: string
  readonly name: string
}

const noMaps: Pick<TemplateMaps, 'immutable' | 'mutable'> = { immutable: [], mutable: [] }
const maps = new WeakMap<Fragment, TemplateMaps>()

function templateMaps(template: Fragment): TemplateMaps {
  const known = maps.get(template)
  if (known) return known
  const [immutable, mutable] = [splitDataMap(template.texts[2]!), splitDataMap(template.texts[3]!)]
  const merged = overlayDataMap(mutable, immutable)
  const name = nameOf(merged)
  const split = {
    immutable,
    mutable,
    data: mutable.length === 0 ? template.texts[2]! : joinDataMap(merged),
    name: name === undefined ? '' : `,"name":${name}`,
  }
  maps.set(template, split)
  return split
}

/** Attributes of the template that may change, of the asset that may change, of the asset, of the template. */
function mergedData(template: Fragment | undefined, mutableData: string, immutableData: string): string {
  const { immutable, mutable } = template ? templateMaps(template) : noMaps
  const own = overlayDataMap(splitDataMap(mutableData), splitDataMap(immutableData))
  return dataMembers(overlayDataMap(overlayDataMap(mutable, own), immutable))
}
