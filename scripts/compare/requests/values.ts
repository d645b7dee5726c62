import type { Form } from '../../../services/core/endpoint/index.ts'
import type { Choices } from './choices.ts'
import type { CrawledAnswer } from '../crawl.ts'

/** Values found in answers, by JSON key. */
export type KnownValues = ReadonlyMap<string, readonly string[]>

/** Maximum number of values that are collected for one JSON key. */
const MAX_VALUES = 200

/** Collects all scalars of the answers by JSON key. */
export function collectValues(answers: readonly CrawledAnswer[]): KnownValues {
  const found = new Map<string, Set<string>>()
  const walk = (value: unknown, key: string): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) walk(each, Array.isArray(value) ? key : name)
      return
    }
    const values = found.get(key) ?? new Set()
    found.set(key, values)
    if (values.size === MAX_VALUES) return
    if (typeof value === 'string') values.add(value)
    if (typeof value === 'number' || typeof value === 'boolean') values.add(String(value))
  }
  for (const { body } of answers) walk(body, '')
  return new Map(
    [...found].filter(([, values]) => values.size > 0).map(([key, values]) => [key, [...values]]),
  )
}

/** JSON keys whose values suit a parameter with another name. */
export const namedLike: Readonly<Record<string, readonly string[]>> = {
  account: ['owner', 'account', 'sender_name'],
  account_blacklist: ['owner'],
  account_whitelist: ['owner'],
  authorized_account: ['authorized_accounts', 'author'],
  burned_by_account: ['burned_by_account'],
  burner: ['burned_by_account'],
  buyer: ['owner'],
  collection_blacklist: ['collection_name'],
  collection_whitelist: ['collection_name'],
  hide_templates_by_accounts: ['owner'],
  ids: ['asset_id', 'template_id', 'offer_id', 'transfer_id', 'collection_name'],
  initial_receiver: ['owner'],
  lower_bound: ['asset_id', 'template_id', 'collection_name'],
  match: ['collection_name', 'name'],
  match_immutable_name: ['name'],
  match_memo: ['memo'],
  match_mutable_name: ['name'],
  match_owner: ['owner'],
  minter: ['author'],
  notify_account: ['notify_accounts'],
  recipient: ['recipient_name'],
  recipient_asset_blacklist: ['asset_id'],
  recipient_asset_whitelist: ['asset_id'],
  search: ['name', 'collection_name'],
  seller: ['owner'],
  maker_marketplace: ['marketplace_name'],
  marketplace: ['maker_marketplace', 'marketplace_name'],
  sender: ['sender_name'],
  sender_asset_blacklist: ['asset_id'],
  sender_asset_whitelist: ['asset_id'],
  symbol: ['token_symbol'],
  template_blacklist: ['template_id'],
  template_whitelist: ['template_id'],
  upper_bound: ['asset_id', 'template_id', 'collection_name'],
}

/** Texts that parameters reject or barely accept. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '+1',
  '1.5',
  '1e9',
  '1e400',
  '0x10',
  'NaN',
  'Infinity',
  'null',
  'NULL',
  'undefined',
  'empty',
  'TRUE',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-9223372036854775809',
  '18446744073709551615',
  '18446744073709551616',
  '9'.repeat(400),
  '0'.repeat(400),
  ',',
  ',,',
  'a,,b',
  '1,',
  '1,2,3,4,5,6,7,8,9,10,11,12',
  '11,12,13,14,15,21,22,23,24,25,31,32',
  'null,1',
  '$list:',
  '$list:none',
  '$list:$list:x',
  'alice,$list:none',
  "'",
  "''; DROP TABLE assets.assets; --",
  "' OR '1'='1",
  '1) OR (1=1',
  '$1',
  '$$',
  '%',
  '_',
  '%_%_\\%',
  '\\',
  '\\u0000',
  '\0',
  'a\0b',
  '\r\nX: y',
  '\u001e\u001f',
  '"',
  '{"a":1}',
  '[1,2]',
  '<script>',
  '🦊',
  'é',
  '\u202e',
  'ⅷ',
  '١٢',
  '\ufffd',
  'ﷺ'.repeat(50),
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'a'.repeat(13),
  '.'.repeat(12),
  'zzzzzzzzzzzzj',
  'zzzzzzzzzzzzz',
  'A'.repeat(3_000),
]

/** Values of other JSON types, for parameters that expect a text in a JSON body. */
export const hostileJson: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  -1e-7,
  Number.MAX_SAFE_INTEGER,
  2 ** 63,
  [],
  [[]],
  [null],
  [1, 'two', true, null, { a: 1 }],
  {},
  { a: { b: { c: [1] } } },
  { $gt: '' },
  { toString: 'x' },
  ['alice', 'bob,carol'],
]

/** A parameter's name and value format. */
export type NamedForm = Form & { readonly name: string }

/** Draws the text of a parameter: a meaningful value, or with probability `hostile` a hostile text. */
export function textFor(parameter: NamedForm, known: KnownValues, random: Choices, hostile = 0.3): string {
  if (random.chance(hostile)) return random.pick(hostileTexts)
  const count = parameter.list === undefined ? 1 : 1 + random.below(4)
  return Array.from({ length: count }, () => elementFor(parameter, known, random)).join(',')
}

function elementFor(parameter: NamedForm, known: KnownValues, random: Choices): string {
  const { name, type, values, minimum = 0, maximum = 1_000 } = parameter
  if (values) return random.pick(values)
  const keys = [name, ...(namedLike[name] ?? [])].filter((key) => known.has(key))
  if (keys.length > 0 && random.chance(0.9)) {
    const value = random.pick(known.get(random.pick(keys))!)
    return random.chance(0.1) && value.length > 1 ? value.slice(0, -1) : value
  }
  switch (type) {
    case 'int':
      if (name === 'before' || name === 'after') return random.pick(known.get('created_at_time') ?? ['1'])
      return String(minimum + random.below(Math.min(maximum - minimum + 1, name === 'limit' ? 8 : 40)))
    case 'decimal':
      return random.pick(['0', '1', '0.5', '12.25', '1e3'])
    case 'id':
      return String(1 + random.below(300))
    case 'bool':
      return random.pick(['true', 'false', '1', '0'])
    case 'name':
      return random.pick(['alice', 'bob', 'erin', 'testcollect1', 'atomicmarket', 'e'])
    default:
      return random.pick(['a', 'Sword', '0,1,3', 'sale', '1', 'e'])
  }
}
