const nameSyllables = [
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

/** Accounts with code. On a real chain, large owners and recipients often are contracts. */
const contracts = ['atomicmarket', 'packs.game', 'blends.game', 'staking.game', 'vault.game', 'drops.game']

/** Number of distinct names of four syllables. */
const SHORT_NAMES = 65_536
/** Characters that are appended to the four syllables of a name, for accounts from number SHORT_NAMES on. */
const PAGES = '.bcdfghjkl'
/** Last character of a name, for accounts from number 10 x SHORT_NAMES on. It follows the character of PAGES. */
const LAST_PAGES = 'mnprstvwxz'

/** Number of accounts with distinct names. */
export const mostAccounts = SHORT_NAMES * PAGES.length * LAST_PAGES.length

/** Account name by number. The first numbers give the accounts with code; different numbers give different names. */
export function accountName(index: number): string {
  if (index < contracts.length) return contracts[index]!
  // Multiplication by an odd number permutes the 16-bit numbers: successive accounts get dissimilar names.
  const mixed = Math.imul(index, 40_503) & (SHORT_NAMES - 1)
  const isWallet = index % 5 < 3
  const name = syllables(mixed, 4)
  if (index < SHORT_NAMES) return `${name}${isWallet ? '.wam' : ''}`
  const page = Math.floor(index / SHORT_NAMES)
  if (page < PAGES.length) return `${name}${PAGES[page]!}${isWallet ? '.gm' : ''}`
  return `${name}${PAGES[Math.floor(page / 10)]!}${LAST_PAGES[page % 10]!}`
}

/** Whether the account has code. */
export function hasCode(index: number): boolean {
  return index < contracts.length
}

/** Number of accounts with code. */
export const contractCount = contracts.length

/** Collection name by number; the first 2,560 are distinct. */
export function collectionName(index: number): string {
  const page = index < 256 ? '' : PAGES[index >>> 8]!
  return `${syllables(Math.imul(index, 73) & 0xff, 2)}${syllables(index & 0xff, 2)}${page}${index % 3 === 0 ? 'nft' : ''}`
}

/** A capitalised word; equal numbers give equal words. */
export function word(index: number): string {
  const text = syllables(Math.imul(index, 2_531) & 0xfff, 3)
  return text[0]!.toUpperCase() + text.slice(1)
}

function syllables(number: number, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) text += nameSyllables[(number >>> (4 * i)) & 15]!
  return text
}
