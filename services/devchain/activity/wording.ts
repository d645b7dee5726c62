import type { Attributes, FormatField } from '../contracts/attributes.ts'
import type { Random } from './random.ts'

const animals = [
  'lynx',
  'heron',
  'otter',
  'ibex',
  'raven',
  'viper',
  'gecko',
  'bison',
  'crane',
  'newt',
  'mole',
]
const colours = ['amber', 'azure', 'coral', 'ebony', 'ivory', 'jade', 'olive', 'ruby', 'sand', 'teal', 'rust']
const schemaNames = ['cards', 'items', 'lands', 'heroes', 'packs', 'skins'] as const
/** Values of the attribute `rarity`. */
export const rarities = ['common', 'uncommon', 'rare', 'epic', 'legendary']
const BASE58_DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const nameLetters = Array.from('abcdefghijklmnopqrstuvwxyz12345')
const nameDigits = Array.from('12345')

/** Suffix of generated accounts; identifies them when stored blocks are read again. */
export const ACCOUNT_SUFFIX = '.dev'

/** Fields that a schema may get in addition to the common fields, at its creation or later. */
const extraFields: readonly FormatField[] = [
  { name: 'power', type: 'uint32' },
  { name: 'speed', type: 'float' },
  { name: 'weight', type: 'double' },
  { name: 'xp', type: 'uint64' },
  { name: 'offset', type: 'int32' },
  { name: 'shiny', type: 'bool' },
  { name: 'tags', type: 'string[]' },
  { name: 'stats', type: 'uint16[]' },
  { name: 'banner', type: 'image' },
  { name: 'born', type: 'fixed32' },
]

const commonFields: readonly FormatField[] = [
  { name: 'name', type: 'string' },
  { name: 'img', type: 'ipfs' },
  { name: 'rarity', type: 'string' },
  { name: 'level', type: 'uint16' },
]

/** A new account name: a word, digits, the suffix; at most 12 characters. */
export function accountName(random: Random): string {
  const word = random.pick(random.chance(0.5) ? animals : colours)
  const tail = Array.from({ length: 8 - word.length }, () => random.pick(nameDigits))
  return word + tail.join('') + ACCOUNT_SUFFIX
}

/** A new collection name of exactly 12 characters. */
export function collectionName(random: Random): string {
  const word = random.pick(animals)
  const tail = Array.from({ length: 12 - word.length }, () => random.pick(nameLetters))
  return word + tail.join('')
}

/** A schema name that is not in `taken`; null if all are taken. */
export function schemaName(random: Random, taken: readonly string[]): string | null {
  const free = schemaNames.filter((name) => !taken.includes(name))
  return free.length === 0 ? null : random.pick(free)
}

/** Draws the attributes of a new schema: the common fields, and each extra field with a probability of 0.4. */
export function firstFormat(random: Random): FormatField[] {
  return [...commonFields, ...extraFields.filter(() => random.chance(0.4))]
}

/** A random attribute that a schema's format lacks; null if the format has all attributes. */
export function nextField(random: Random, format: readonly FormatField[]): FormatField | null {
  const free = extraFields.filter((field) => !format.some((known) => known.name === field.name))
  return free.length === 0 ? null : random.pick(free)
}

/** Attribute values that identify a template or asset (immutable data). */
export function identityData(random: Random, format: readonly FormatField[]): Attributes {
  return valuesOf(random, format, (field) => ['name', 'img', 'rarity'].includes(field.name))
}

/** Attribute values that change during an asset's life (mutable data); sometimes empty. */
export function changingData(random: Random, format: readonly FormatField[]): Attributes {
  const changing = valuesOf(random, format, (field) => !['name', 'img', 'rarity'].includes(field.name))
  return random.chance(0.1) ? {} : changing
}

/** Values of a collection's data, by the format in the contract's configuration. */
export function collectionData(random: Random, format: readonly FormatField[], name: string): Attributes {
  const values: Attributes = {
    name: `Collection ${name}`,
    img: ipfsHash(random),
    description: sentence(random),
    url: `https://${name}.example`,
    socials: '{"web":"example"}',
  }
  return Object.fromEntries(Object.entries(values).filter(([key]) => format.some(({ name }) => name === key)))
}

/** Integer types of one or two bytes, which schemas of other accounts may contain. */
const smallIntegers: ReadonlySet<string> = new Set([
  'int8',
  'int16',
  'uint8',
  'uint16',
  'fixed8',
  'fixed16',
  'byte',
])

/** A few words, sometimes with non-ASCII letters. */
export function sentence(random: Random): string {
  const words = Array.from({ length: random.between(1, 5) }, () => random.pick([...animals, ...colours]))
  return words.join(' ') + (random.chance(0.1) ? ' é€😀' : '')
}

function valuesOf(
  random: Random,
  format: readonly FormatField[],
  wanted: (field: FormatField) => boolean,
): Attributes {
  const fields = format.filter((field) => wanted(field) && random.chance(0.8))
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(random, field)]))
}

function valueOf(random: Random, field: FormatField): unknown {
  switch (field.type) {
    case 'string':
      return field.name === 'rarity' ? random.pick(rarities) : sentence(random)
    case 'ipfs':
      return ipfsHash(random)
    case 'image':
      return `ipfs://${ipfsHash(random)}`
    case 'float':
      return Math.fround(random.below(10_000) / 64)
    case 'double':
      return random.below(1_000_000) / 1000
    case 'uint64':
      return String(BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 31)))
    case 'int32':
      return random.between(-100_000, 100_000)
    case 'bool':
      return random.below(2)
    case 'string[]':
      return Array.from({ length: random.below(4) }, () => random.pick(colours))
    case 'uint16[]':
      return Array.from({ length: random.below(5) }, () => random.below(65_536))
    default:
      if (field.type.endsWith('[]')) {
        const type = field.type.slice(0, -2)
        return Array.from({ length: random.below(4) }, () => valueOf(random, { name: field.name, type }))
      }
      return random.below(smallIntegers.has(field.type) ? 100 : 4_000_000_000)
  }
}

function ipfsHash(random: Random): string {
  return 'Qm' + Array.from({ length: 44 }, () => BASE58_DIGITS[random.below(58)]!).join('')
}
