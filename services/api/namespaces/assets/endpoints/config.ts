import type { Endpoint } from '../../../endpoint/index.ts'
import { RequestError } from '../../../endpoint/index.ts'
import { jsonMembers, jsonText } from '../records/index.ts'

const TOKENS = `coalesce((SELECT json_agg(json_build_object('token_symbol', y.token_symbol,
    'token_contract', y.token_contract, 'token_precision', y.token_precision) ORDER BY y.token_symbol)
  FROM assets.tokens y), '[]')`

/** `/v1/config`. */
export const configEndpoint: Endpoint = {
  path: '/v1/config',
  method: 'get',
  tag: 'config',
  summary: 'Settings of the contract',
  parameters: [],
  record: 'Config',
  cache: 'path',
  run: async ({ session }) => {
    const rows = await session.query<[string]>({
      name: 'assets-config',
      text: `SELECT '{' || ${jsonMembers({
        contract: jsonText('c.contract'),
        version: jsonText('c.version'),
        collection_format: 'c.collection_format',
        supported_tokens: TOKENS,
      })} || '}' FROM assets.config c`,
      values: [],
    })
    const row = rows[0]
    if (!row) throw new RequestError(500, 'Config not found')
    return row[0]
  },
}
