const SYLLABLES = [
  'ba',
  'de',
  'fi',
  'go',
  'ha',
  'ju',
  'ki',
  'lo',
  'ma',
  'ne',
  'pi',
  'ro',
  'sa',
  'tu',
  'vo',
  'za',
]

/** Accounts with code, as large owners and recipients often are. */
const CONTRACTS = ['atomicmarket', 'packs.game', 'blends.game', 'staking.game', 'vault.game', 'drops.game']

/** Number of syllable pairs that names are made of. */
const MOST = 65_536

/** The account of a number; the first are contracts. Different numbers have different names. */
export function accountName(index: number): string {
  if (index < CONTRACTS.length) return CONTRACTS[index]!
  // Odd, so that every number of 16 bits comes out once: neighbours do not look alike.
  const mixed = Math.imul(index, 40_503) & (MOST - 1)
  return `${syllables(mixed, 4)}${index % 5 < 3 ? '.wam' : ''}`
}

/** True for the accounts that have code. */
export function hasCode(index: number): boolean {
  return index < CONTRACTS.length
}

/** Number of accounts with code. */
export const contractCount = CONTRACTS.length

/** The collection of a number. */
export function collectionName(index: number): string {
  return `${syllables(Math.imul(index, 73) & 0xff, 2)}${syllables(index & 0xff, 2)}${index % 3 === 0 ? 'nft' : ''}`
}

/** Capitalised word of a number. */
export function word(index: number): string {
  const text = syllables(Math.imul(index, 2_531) & 0xfff, 3)
  return text[0]!.toUpperCase() + text.slice(1)
}

function syllables(number: number, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) text += SYLLABLES[(number >>> (4 * i)) & 15]!
  return text
}
