import type { StateSession } from '../chain/index.ts'

/** A link of a contract's action to one of the account's permissions. */
export interface LinkedPermission {
  readonly contract: string
  /** Empty text: the link is for all actions of the contract. */
  readonly action: string
  readonly permission_name: string
}

const LINKS = `
  SELECT contract, action, permission AS permission_name FROM state.links WHERE account = $1 AND since_block <= $2
  UNION ALL
  SELECT contract, action, permission FROM state.past_links
  WHERE account = $1 AND since_block <= $2 AND until_block > $2
  ORDER BY contract, action`

/** The permission links of an account at a block, by contract and action. */
export async function selectLinks(
  session: StateSession,
  account: string,
  block: number,
): Promise<LinkedPermission[]> {
  const { rows } = await session.query<LinkedPermission>({
    name: 'state-links',
    text: LINKS,
    values: [account, block],
  })
  return rows
}

const KEY_ACCOUNTS = `
  SELECT DISTINCT account FROM (
    SELECT account FROM state.permissions WHERE keys @> ARRAY[$1] AND since_block <= $2
    UNION ALL
    SELECT account FROM state.past_permissions WHERE keys @> ARRAY[$1] AND since_block <= $2 AND until_block > $2
  ) found ORDER BY account`

const KEY_SEEN = `
  SELECT 1 WHERE EXISTS (SELECT FROM state.permissions WHERE keys @> ARRAY[$1] AND since_block <= $2)
    OR EXISTS (SELECT FROM state.past_permissions WHERE keys @> ARRAY[$1] AND since_block <= $2)`

/**
 * Accounts that have the public key in a permission at a block, sorted; null if no account has ever had it up to the
 * block.
 */
export async function selectKeyAccounts(
  session: StateSession,
  key: string,
  block: number,
): Promise<string[] | null> {
  const values = [key, block]
  const { rows } = await session.query<{ account: string }>({
    name: 'state-key-accounts',
    text: KEY_ACCOUNTS,
    values,
  })
  if (rows.length > 0) return rows.map(({ account }) => account)
  const seen = await session.query({ name: 'state-key-seen', text: KEY_SEEN, values })
  return seen.rowCount === 1 ? [] : null
}
