import type { Random } from './choice.ts'
import { Choice, falling } from './choice.ts'
import { accountName, collectionName, contractCount, word } from './names.ts'
import type { GeneratedSizes } from './sizes.ts'

/** A generated collection, with the properties that the history needs. */
export interface Collection {
  readonly name: string
  readonly author: string
  readonly minters: readonly string[]
  /** Period in which the collection mints, as shares of all mints (0 to 1). */
  readonly from: number
  readonly to: number
  /** Templates of the collection, most minted first. */
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
  /** Mutable data as JSON text, or null. */
  readonly mutable: string | null
  readonly isDeleted: boolean
}

/** Collections, schemas and templates, which exist before the first asset. */
export interface Catalogue {
  readonly collections: readonly Collection[]
  readonly templates: readonly Template[]
  /** Picks a collection with a probability by size. */
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

/** Generates collections, schemas and templates. The first collections are the largest. */
export function makeCatalogue(sizes: GeneratedSizes, random: Random): Catalogue {
  const weights = falling(sizes.collections, 0.9)
  const counts = templateCounts(sizes, weights)
  const templates: Template[] = []
  const collections = counts.map((count, index) => {
    const schemas = makeSchemas(index, sizes.schemasPerCollection, random)
    const own = Array.from({ length: count }, () => {
      const template = makeTemplate(templates.length + 1, index, schemas, random)
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
      templates: own,
      schemas,
    }
  })
  return { collections, templates, bySize: new Choice(weights, random) }
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

/** Index of the schema with a unique name, in collections that have that many schemas. */
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

function makeTemplate(id: number, collection: number, schemas: readonly Schema[], random: Random): Template {
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
    id,
    collection,
    schema: schemas[Math.min(random.below(schemas.length), random.below(schemas.length))]!,
    transferable: !random.chance(0.02),
    burnable: !random.chance(0.03),
    immutable: JSON.stringify(data),
    mutable: mutable && JSON.stringify(mutable),
    isDeleted: random.chance(0.01),
  }
}
