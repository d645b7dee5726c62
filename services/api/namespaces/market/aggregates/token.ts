import type { Json } from '../../../json/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import type { SymbolValues } from './parameters.ts'

/**
 * Answers statistics of the token that `symbol` names: `{"symbol":…, "results":…}`, or `result` for a single one.
 * @throws RequestError 400 when it names none that the market knows.
 */
export async function withToken(
  { session, values }: EndpointContext<SymbolValues>,
  member: 'result' | 'results',
  answer: (symbol: string) => Promise<Json>,
): Promise<Json> {
  const symbol = values.symbol
  if (symbol === undefined) throw unknownToken()
  const rows = await session.query<[string]>({
    name: 'token-record',
    text: `SELECT json_build_object('token_symbol', y.token_symbol, 'token_contract', y.token_contract,
      'token_precision', y.token_precision)::text FROM market.tokens y WHERE y.token_symbol = $1::text`,
    values: [symbol],
  })
  const row = rows[0]
  if (!row) throw unknownToken()
  return [`{"symbol":${row[0]},"${member}":`, await answer(symbol), '}']
}

/** Clients compare the message with that of the replaced system. */
function unknownToken(): RequestError {
  return new RequestError(400, 'Symbol not found')
}
