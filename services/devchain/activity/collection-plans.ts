import type { OwnCollection } from './directory.ts'
import {
  changingData,
  collectionData,
  collectionName,
  firstFormat,
  identityData,
  nextField,
  schemaName,
} from './wording.ts'
import { ASSETS_ACCOUNT } from '../contracts/rows.ts'
import { nameValue } from '../runtime/index.ts'
import { assetsAction, formatOf, knowsAction, mapOf, templateOf } from './world.ts'
import type { Plan, World } from './world.ts'

/** Number of random templates that are examined to find one that may be deleted. */
const MAX_TRIES = 12

/** Plan of a transaction: create a collection of a random author. Half of the collections notify another account. */
export const newCollection: Plan = (world) => {
  const { random, directory, runtime } = world
  const config = directory.config()
  if (config === undefined || directory.people.length < 2) return null
  const author = random.pick(directory.people)
  const name = collectionName(random)
  const taken = runtime.rawRow(ASSETS_ACCOUNT, 'collections', ASSETS_ACCOUNT, nameValue(name))
  if (taken !== undefined || runtime.state.accounts.has(nameValue(name))) return null
  const reader = random.pick(directory.people)
  const data = {
    author,
    collection_name: name,
    allow_notify: true,
    authorized_accounts: [author],
    notify_accounts: random.chance(0.5) && reader !== author ? [reader] : [],
    market_fee: random.below(16) / 100,
    data: mapOf(world, config.collection_format, collectionData(random, config.collection_format, name)),
  }
  return [assetsAction(world, author, 'createcol', data)]
}

/** Plan of a transaction: change the data or the market fee of a collection. */
export const editCollection: Plan = (world) => {
  const collection = anyCollection(world)
  const format = world.directory.config()?.collection_format
  if (collection === null || format === undefined) return null
  const { name, author } = collection
  if (world.random.chance(0.5)) {
    const fee = { collection_name: name, market_fee: world.random.below(16) / 100 }
    return [assetsAction(world, author, 'setmarketfee', fee)]
  }
  const data = mapOf(world, format, collectionData(world.random, format, name))
  return [assetsAction(world, author, 'setcoldata', { collection_name: name, data })]
}

/**
 * Plan of a transaction: create a schema, in a collection without schemas if there is such a collection, else in a
 * random collection.
 */
export const newSchema: Plan = (world) => {
  const empty = world.directory.collections.find((collection) => collection.schemas.length === 0)
  const collection = empty ?? anyCollection(world)
  if (collection === null) return null
  const schema = schemaName(world.random, collection.schemas)
  if (schema === null) return null
  const data = {
    authorized_creator: collection.author,
    collection_name: collection.name,
    schema_name: schema,
    schema_format: firstFormat(world.random),
  }
  return [assetsAction(world, collection.author, 'createschema', data)]
}

/** Plan of a transaction: add a field to a schema. */
export const extendSchema: Plan = (world) => {
  const collection = anyCollection(world)
  if (collection === null || collection.schemas.length === 0) return null
  const schema = world.random.pick(collection.schemas)
  const field = nextField(world.random, formatOf(world, collection.name, schema))
  if (field === null) return null
  const data = {
    authorized_editor: collection.author,
    collection_name: collection.name,
    schema_name: schema,
    schema_format_extension: [field],
  }
  return [assetsAction(world, collection.author, 'extendschema', data)]
}

/** Plan of a transaction: create a template, with mutable data if the contract version supports it. */
export const newTemplate: Plan = (world) => {
  const { random, directory } = world
  const usable = directory.collections.filter((collection) => collection.schemas.length > 0)
  if (usable.length === 0) return null
  const collection = usable.find(({ templates }) => templates.length === 0) ?? random.pick(usable)
  const schema = random.pick(collection.schemas)
  const format = formatOf(world, collection.name, schema)
  const transferable = !random.chance(0.05)
  const data = {
    authorized_creator: collection.author,
    collection_name: collection.name,
    schema_name: schema,
    transferable,
    burnable: !transferable || !random.chance(0.1),
    max_supply: random.chance(0.7) ? 0 : random.between(10, 1000),
    immutable_data: mapOf(world, format, identityData(random, format)),
  }
  if (!knowsAction(world, 'createtempl2') || random.chance(0.5)) {
    return [assetsAction(world, collection.author, 'createtempl', data)]
  }
  const mutable = { ...data, mutable_data: mapOf(world, format, changingData(random, format)) }
  return [assetsAction(world, collection.author, 'createtempl2', mutable)]
}

/** Plan of a transaction: change a template's mutable data, or lock its supply. */
export const editTemplate: Plan = (world) => {
  const found = anyTemplate(world)
  if (found === null) return null
  const { collection, id, row } = found
  const target = { authorized_editor: collection.author, collection_name: collection.name, template_id: id }
  if (row.issued_supply > 0 && world.random.chance(0.05)) {
    return [assetsAction(world, collection.author, 'locktemplate', target)]
  }
  if (!knowsAction(world, 'settempldata')) return null
  const format = formatOf(world, collection.name, row.schema_name)
  const data = { ...target, new_mutable_data: mapOf(world, format, changingData(world.random, format)) }
  return [assetsAction(world, collection.author, 'settempldata', data)]
}

/** Plan of a transaction: delete a template from which nothing was minted. */
export const deleteTemplate: Plan = (world) => {
  if (!knowsAction(world, 'deltemplate')) return null
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = anyTemplate(world)
    if (found === null || found.row.issued_supply > 0) continue
    const { collection, id } = found
    const data = { authorized_editor: collection.author, collection_name: collection.name, template_id: id }
    return [assetsAction(world, collection.author, 'deltemplate', data)]
  }
  return null
}

/** A random generated collection; null if there is none. */
export function anyCollection(world: World): OwnCollection | null {
  const { collections } = world.directory
  return collections.length === 0 ? null : world.random.pick(collections)
}

function anyTemplate(
  world: World,
): { collection: OwnCollection; id: number; row: NonNullable<ReturnType<typeof templateOf>> } | null {
  const collection = anyCollection(world)
  if (collection === null || collection.templates.length === 0) return null
  const id = world.random.pick(collection.templates)
  const row = templateOf(world, collection.name, id)
  return row === undefined ? null : { collection, id, row }
}
