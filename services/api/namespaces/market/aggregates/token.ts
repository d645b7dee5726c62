import type { Session } from '../../../database/index.ts'
import type { Json } from '../../../json/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { warningHeader } from '../../../../core/http/headers/index.ts'
import type { SymbolValues } from './parameters.ts'

/**
 * Runs `answer` for the token of the parameter `symbol`. Returns the JSON `{"symbol":…,"result":…}` or
 * `{"symbol":…,"results":…}`: `symbol` contains the record of the token, and `member` names the other member.
 * @throws RequestError 400 if the request has no `symbol`, or if the market has no such token.
 */
export async function withToken(
  { session, values }: EndpointContext<SymbolValues>,
  member: 'result' | 'results',
  answer: (symbol: string) => Promise<Json>,
): Promise<Json> {
  const symbol = values.symbol
  if (symbol === undefined) throw unknownToken(SYMBOL_IS_REQUIRED)
  const rows = await session.query<[string]>({
    name: 'token-record',
    text: `SELECT json_build_object('token_symbol', y.token_symbol, 'token_contract', y.token_contract,
      'token_precision', y.token_precision)::text FROM market.tokens y WHERE y.token_symbol = $1::text`,
    values: [symbol],
  })
  const row = rows[0]
  if (!row) throw noToken(symbol)
  return [`{"symbol":${row[0]},"${member}":`, await answer(symbol), '}']
}

/** Maximum number of token symbols in an error message about unknown tokens. */
const SYMBOLS_SHOWN = 5

/** @throws RequestError 400 if the market has none of the tokens in `symbols`. */
export async function requireToken(session: Session, symbols: readonly string[]): Promise<void> {
  const [row] = await session.query<[number]>({
    name: 'any-token',
    text: 'SELECT 1 FROM market.tokens WHERE token_symbol = ANY($1::text[]) LIMIT 1',
    values: [symbols],
  })
  if (!row) throw noToken(symbols.slice(0, SYMBOLS_SHOWN).join(', '))
}

function noToken(symbols: string): RequestError {
  return unknownToken(`the market has no token ${symbols}; /v1/config lists the tokens of the market`)
}

/** Error message for a request without `symbol`. */
export const SYMBOL_IS_REQUIRED = 'symbol is required, for example symbol=WAX'

/**
 * Clients of the replaced system expect exactly the message `Symbol not found`. The explanation of the error is
 * therefore sent in a header.
 */
function unknownToken(explanation: string): RequestError {
  return new RequestError(400, 'Symbol not found', warningHeader([explanation]))
}
