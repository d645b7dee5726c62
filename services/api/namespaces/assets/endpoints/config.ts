import { endpoint, shape } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { historyMember, jsonMembers, jsonText } from '../../../json/index.ts'

const noConfig = { status: 500, message: 'Config not found' } as const

const TOKENS = `coalesce((SELECT json_agg(json_build_object('token_symbol', y.token_symbol,
    'token_contract', y.token_contract, 'token_precision', y.token_precision) ORDER BY y.token_symbol)
  FROM assets.tokens y), '[]')`

const configRecord = shape.record('Config', 'Settings of the contract', {
  contract: shape.text('Account of the contract'),
  version: shape.nullable(shape.text('Version that the contract names')),
  collection_format: shape.list(
    shape.object({ name: shape.text('Name of the attribute'), type: shape.text('Type of the attribute') }),
    'Fields of the attributes of collections',
  ),
  supported_tokens: shape.list(
    shape.object({
      token_symbol: shape.text('Symbol code'),
      token_contract: shape.text('Account of the token contract'),
      token_precision: shape.integer('Decimal places'),
    }),
    'Tokens that can back an asset',
  ),
  'history_since_block?': shape.historySince(),
})

/** `/v1/config`. */
export const configEndpoint = endpoint({
  path: '/v1/config',
  method: 'get',
  tag: 'config',
  summary: 'Settings of the contract',
  parameters: {},
  record: configRecord,
  failures: [noConfig],
  cache: 'path',
  run: async ({ session }) => {
    const rows = await session.query<[string]>({
      name: 'assets-config',
      text: `SELECT '{' || ${jsonMembers({
        contract: jsonText('c.contract'),
        version: jsonText('c.version'),
        collection_format: 'c.collection_format',
        supported_tokens: TOKENS,
      })} || ${historyMember('assets')} || '}' FROM assets.config c`,
      values: [],
    })
    const row = rows[0]
    if (!row) throw new RequestError(noConfig.status, noConfig.message)
    return row[0]
  },
})
