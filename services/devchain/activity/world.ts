import type { AttributePair } from '../../core/antelope/attributes/index.ts'
import { ASSETS_ACCOUNT } from '../contracts/rows.ts'
import { attributeMap } from '../contracts/attributes.ts'
import { nameValue } from '../runtime/index.ts'
import type { ActionInput, Fields, Runtime } from '../runtime/index.ts'
import type { AssetRow, TemplateRow } from '../contracts/rows.ts'
import type { Attributes, FormatField } from '../contracts/attributes.ts'
import type { Directory } from './directory.ts'
import type { Random } from './random.ts'

/** Input for planning a transaction: the current chain and a random generator. */
export interface World {
  readonly runtime: Runtime
  readonly directory: Directory
  readonly random: Random
}

/** Draws a transaction whose actions succeed if executed now; null if the chain's state does not allow any. */
export type Plan = (world: World) => ActionInput[] | null

/** Action of the assets contract by one actor. */
export function assetsAction(world: World, actor: string, name: string, data: Fields): ActionInput {
  return world.runtime.action(ASSETS_ACCOUNT, name, [actor], data)
}

/** Whether the ABI in force has the action: the contract is upgraded in the middle of the recordings. */
export function knowsAction(world: World, name: string): boolean {
  return world.runtime.abis.of(ASSETS_ACCOUNT).definition.actions.some((action) => action.name === name)
}

/** Attributes in the form of action parameters. */
export function mapOf(world: World, format: readonly FormatField[], data: Attributes): AttributePair[] {
  return attributeMap(world.runtime.abis.of(ASSETS_ACCOUNT).definition, format, data)
}

/** Format of an existing schema. */
export function formatOf(world: World, collection: string, schema: string): readonly FormatField[] {
  const row = world.runtime.row(ASSETS_ACCOUNT, 'schemas', collection, nameValue(schema))
  return row?.format ?? []
}

/** A template row; undefined if the template was deleted. */
export function templateOf(world: World, collection: string, id: number): TemplateRow | undefined {
  return world.runtime.row(ASSETS_ACCOUNT, 'templates', collection, BigInt(id))
}

/** An asset row with its template row, if it has one. */
export function assetOf(
  world: World,
  owner: string,
  id: bigint,
): { asset: AssetRow; template: TemplateRow | undefined } | null {
  const asset = world.runtime.row(ASSETS_ACCOUNT, 'assets', owner, id)
  if (asset === undefined) return null
  const { collection_name: collection, template_id: template } = asset
  return { asset, template: template === -1 ? undefined : templateOf(world, collection, template) }
}

/** Whether the asset is transferable. */
export function isTransferable(world: World, owner: string, id: bigint): boolean {
  const found = assetOf(world, owner, id)
  return found !== null && found.template?.transferable !== false
}
