import { formatAsset, parseAsset } from '../../core/antelope/index.ts'
import type { ActionContext, ActionHandler } from '../runtime/index.ts'

/** Usual account of the chain's own token. */
export const TOKEN_ACCOUNT = 'eosio.token'

/** Account of a second token, which the recorded market also supports. */
export const SECOND_TOKEN_ACCOUNT = 'karmatoken'

/** Value of a symbol code, the primary key in a token contract's tables: its letters, low byte first. */
export function symbolCodeValue(symbol: string): bigint {
  return Array.from(symbol).reduceRight((value, letter) => (value << 8n) | BigInt(letter.charCodeAt(0)), 0n)
}

/** Handlers of a token contract: only `transfer` is generated. */
export const tokenActions: readonly [string, ActionHandler][] = [['transfer', transfer]]

function transfer(context: ActionContext): void {
  const { from, to, quantity } = context.data() as { from: string; to: string; quantity: string }
  context.notify(from)
  context.notify(to)
  const sent = parseAsset(quantity)
  addBalance(context, from, { ...sent, amount: -sent.amount }, from)
  addBalance(context, to, sent, from)
}

/** Changes a balance. `payer` is billed if the row does not exist yet. */
function addBalance(
  context: ActionContext,
  owner: string,
  change: ReturnType<typeof parseAsset>,
  payer: string,
): void {
  const key = symbolCodeValue(change.symbol)
  const row = context.get('accounts', owner, key)
  const before = row === undefined ? { ...change, amount: 0n } : parseAsset(row.balance)
  const balance = formatAsset({ ...before, amount: before.amount + change.amount })
  context.put({ table: 'accounts', scope: owner, key, payer: row === undefined ? payer : owner }, { balance })
}
