import { endpoint, shape } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { declareRecord, field } from '../../../records/fields/index.ts'

const noConfig = { status: 500, message: 'Config not found' } as const

const TOKENS = `(SELECT json_agg(json_build_object('token_symbol', y.token_symbol,
    'token_contract', y.token_contract, 'token_precision', y.token_precision) ORDER BY y.token_symbol)
  FROM assets.tokens y)`

const config = declareRecord('Config', 'Settings of the contract', {
  contract: field.text('c.contract', 'Account of the contract'),
  version: field.nullable(field.text('c.version', 'Version that the contract names')),
  collection_format: field.list(
    'c.collection_format',
    shape.object({ name: shape.text('Name of the attribute'), type: shape.text('Type of the attribute') }),
    'Attributes that a collection can have',
  ),
  supported_tokens: field.list(
    TOKENS,
    shape.object({
      token_symbol: shape.text('Symbol code'),
      token_contract: shape.text('Account of the token contract'),
      token_precision: shape.integer('Decimal places'),
    }),
    'Tokens that can back an asset',
  ),
  'history_since_block?': field.historySince('assets'),
})

/** Endpoint `/v1/config`. */
export const configEndpoint = endpoint({
  path: '/v1/config',
  method: 'get',
  tag: 'config',
  summary: 'Settings of the contract',
  parameters: {},
  record: config.schema,
  failures: [noConfig],
  cache: 'path',
  run: async ({ session }) => {
    const rows = await session.query<[string]>({
      name: 'assets-config',
      text: `SELECT ${config.packed} FROM assets.config c`,
      values: [],
    })
    const [text] = config.read(rows[0]?.[0])
    if (text === undefined) throw new RequestError(noConfig.status, noConfig.message)
    return text
  },
})
