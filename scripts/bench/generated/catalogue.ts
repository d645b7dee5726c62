import type { Random } from './choice.ts'
import { Choice, falling } from './choice.ts'
import { accountName, collectionName, contractCount, word } from './names.ts'
import type { GeneratedSizes } from './sizes.ts'

/** A generated collection, with the properties that the history needs. */
export interface Collection {
  readonly name: string
  readonly author: string
  readonly minters: readonly string[]
  /** Begin and end of the time in which the collection mints, as shares of all mints (0 to 1). */
  readonly from: number
  readonly to: number
  readonly fee: number
  /** Templates that belong to the collection and have more than one asset; most minted template first. */
  readonly templates: readonly Template[]
  readonly schemas: readonly Schema[]
}

/** A schema of a collection. */
export interface Schema {
  readonly name: string
  readonly collection: number
}

/** A template of a collection. */
export interface Template {
  readonly id: number
  readonly collection: number
  readonly schema: Schema
  readonly transferable: boolean
  readonly burnable: boolean
  /** Immutable data as JSON text. */
  readonly immutable: string
  /** Attribute `name` of the immutable data. */
  readonly name: string | undefined
  /** Mutable data as JSON text, or null. */
  readonly mutable: string | null
  /** Attribute `name` of the mutable data. */
  readonly mutableName: string | undefined
  readonly isDeleted: boolean
  /** Whether the template is for exactly one asset. */
  readonly isUnique: boolean
}

/** Collections, schemas and templates, which exist before the first asset. */
export interface Catalogue {
  readonly collections: readonly Collection[]
  readonly templates: readonly Template[]
  /** Templates with one asset, in the order of their mints. */
  readonly uniques: readonly Template[]
  /** Picks a collection; a larger collection is picked more often. */
  readonly bySize: Choice
}

/** Schema names that many collections share. */
const schemaNames = [
  'cards',
  'packs',
  'items',
  'lands',
  'heroes',
  'skins',
  'tickets',
  'badges',
  'tools',
  'pets',
]
const rarities = ['Common', 'Common', 'Common', 'Uncommon', 'Uncommon', 'Rare', 'Epic', 'Legendary'] as const

/** Format of every schema, as JSON text. */
export const SCHEMA_FORMAT = JSON.stringify([
  { name: 'name', type: 'string' },
  { name: 'img', type: 'image' },
  { name: 'rarity', type: 'string' },
  { name: 'element', type: 'string' },
  { name: 'power', type: 'uint16' },
  { name: 'foil', type: 'bool' },
  { name: 'serial', type: 'uint64' },
  { name: 'level', type: 'uint16' },
  { name: 'xp', type: 'uint32' },
  { name: 'status', type: 'string' },
])

/**
 * Zipf exponent of the numbers of assets of collections. Assumption: no public figure was found for the sizes.
 */
const SIZES_EXPONENT = 1
/** Share of the templates that have one asset. Assumption: no public figure was found. */
const UNIQUE_SHARE = 0.6

/** Generates collections, schemas and templates. The first collections are the largest. */
export function makeCatalogue(sizes: GeneratedSizes, random: Random): Catalogue {
  const weights = falling(sizes.collections, SIZES_EXPONENT)
  const counts = templateCounts(sizes, weights)
  const templates: Template[] = []
  const collections = counts.map((count, index) => {
    const schemas = makeSchemas(index, sizes.schemasPerCollection, random)
    const repeated = Math.max(1, Math.round(count * (1 - UNIQUE_SHARE)))
    const own = Array.from({ length: count }, (_, at) => {
      const place = { id: templates.length + 1, collection: index, isUnique: at >= repeated }
      const template = makeTemplate(place, schemas, random)
      templates.push(template)
      return template
    })
    const from = index < 3 ? 0 : random.fraction() * 0.6
    const author = accountName(contractCount + random.below(sizes.accounts - contractCount))
    return {
      name: collectionName(index),
      author,
      minters: [
        author,
        index % 4 === 0 ? 'drops.game' : `${collectionName(index).slice(0, 7)}.mint`.slice(0, 12),
      ],
      from,
      to: index < 2 || random.chance(0.6) ? 1 : from + 0.1 + random.fraction() * 0.3,
      fee: random.below(16) / 100,
      templates: own.slice(0, repeated),
      schemas,
    }
  })
  const uniques = shuffled(
    templates.filter(({ isUnique }) => isUnique),
    random,
  )
  return { collections, templates, uniques, bySize: new Choice(weights, random) }
}

/** Shuffles the list in place (Fisher-Yates). @returns the list. */
function shuffled<T>(items: T[], random: Random): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    const item = items[at]!
    items[at] = items[other]!
    items[other] = item
  }
  return items
}

/** Number of templates of each collection, proportional to the square root of its size. */
function templateCounts(sizes: GeneratedSizes, weights: Float64Array): number[] {
  const roots = Array.from(weights, Math.sqrt)
  const sum = roots.reduce((total, root) => total + root, 0)
  const counts = roots.map((root) => Math.max(1, Math.floor((root / sum) * sizes.templates)))
  const rest = sizes.templates - counts.reduce((total, count) => total + count, 0)
  counts[0] = Math.max(1, counts[0]! + rest)
  return counts
}

/** In collections with at least six schemas, the sixth schema has a name that no other collection uses. */
const OWN_SCHEMA = 5

/** Generates 1 to `most` schemas of a collection. Other collections have schemas with the same names. */
function makeSchemas(collection: number, most: number, random: Random): Schema[] {
  const first = random.below(schemaNames.length)
  return Array.from({ length: random.between(1, most) }, (_, i) => ({
    name:
      i === OWN_SCHEMA
        ? `${collectionName(collection).slice(0, 8)}.sp`
        : schemaNames[(first + i - (i > OWN_SCHEMA ? 1 : 0)) % schemaNames.length]!,
    collection,
  }))
}

function makeTemplate(
  place: Pick<Template, 'id' | 'collection' | 'isUnique'>,
  schemas: readonly Schema[],
  random: Random,
): Template {
  const { id } = place
  const name = random.chance(0.03) ? undefined : `${word(random.below(400))} ${word(400 + random.below(60))}`
  const data = {
    name,
    img: `Qm${word(id)}${'x'.repeat(38)}`,
    rarity: random.pick(rarities),
    element: ['fire', 'water', 'earth', 'air'][random.below(4)]!,
    power: random.below(500),
    foil: random.below(10) === 0 ? 1 : 0,
    text: `${word(random.below(4_000))} ${word(random.below(4_000))} of the ${word(random.below(4_000))}`,
  }
  const mutable = random.chance(0.03)
    ? { season: random.below(9), name: `Season ${word(random.below(50))}` }
    : null
  return {
    ...place,
    schema: schemas[Math.min(random.below(schemas.length), random.below(schemas.length))]!,
    transferable: !random.chance(0.02),
    burnable: !random.chance(0.03),
    immutable: JSON.stringify(data),
    name,
    mutable: mutable && JSON.stringify(mutable),
    mutableName: mutable?.name,
    isDeleted: random.chance(0.01),
  }
}
