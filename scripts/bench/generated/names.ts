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

/** Accounts with code, as large owners and recipients often are. */
const contracts = ['atomicmarket', 'packs.game', 'blends.game', 'staking.game', 'vault.game', 'drops.game']

/** Names of four syllables. */
const SHORT_NAMES = 65_536
/** Distinguishes the names beyond those. */
const PAGES = '.bcdfghjkl'

/** How many accounts have different names. */
export const mostAccounts = SHORT_NAMES * PAGES.length

/** The account of a number; the first are contracts. Different numbers have different names. */
export function accountName(index: number): string {
  if (index < contracts.length) return contracts[index]!
  // Odd, so that every number of 16 bits comes out once: neighbours do not look alike.
  const mixed = Math.imul(index, 40_503) & (SHORT_NAMES - 1)
  const isWallet = index % 5 < 3
  if (index < SHORT_NAMES) return `${syllables(mixed, 4)}${isWallet ? '.wam' : ''}`
  return `${syllables(mixed, 4)}${PAGES[Math.floor(index / SHORT_NAMES)]!}${isWallet ? '.gm' : ''}`
}

/** True for the accounts that have code. */
export function hasCode(index: number): boolean {
  return index < contracts.length
}

/** Number of accounts with code. */
export const contractCount = contracts.length

/** The collection of a number; the first 2,560 have different names. */
export function collectionName(index: number): string {
  const page = index < 256 ? '' : PAGES[index >>> 8]!
  return `${syllables(Math.imul(index, 73) & 0xff, 2)}${syllables(index & 0xff, 2)}${page}${index % 3 === 0 ? 'nft' : ''}`
}

/** Capitalised word of a number. */
export function word(index: number): string {
  const text = syllables(Math.imul(index, 2_531) & 0xfff, 3)
  return text[0]!.toUpperCase() + text.slice(1)
}

function syllables(number: number, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) text += nameSyllables[(number >>> (4 * i)) & 15]!
  return text
}
