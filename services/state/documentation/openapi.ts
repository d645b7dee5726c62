import { describeMembers, describeParameter, operationId } from '../../core/endpoint/index.ts'
import type { Schema } from '../../core/endpoint/index.ts'
import type { Endpoint } from '../endpoints/index.ts'

/** Facts about the server that the OpenAPI document contains. */
export interface ServerInfo {
  /** Version of this program. */
  readonly version: string
  /** Name of the chain. */
  readonly chain: string
}

const envelope: Schema = {
  title: 'Failure',
  type: 'object',
  properties: {
    code: { type: 'string', description: 'Error code' },
    trace_id: {
      type: 'string',
      description: 'Id of the request, which is also in the header `X-Trace-ID` and in the log of the server',
    },
    message: { type: 'string' },
    details: { type: 'object', description: 'Details of the error; absent if there are none' },
  },
  required: ['code', 'trace_id', 'message'],
  additionalProperties: false,
}

/** HTTP statuses of error responses, with the error codes that every endpoint may return. */
const failures: readonly (readonly [status: number, text: string, codes: readonly string[]])[] = [
  [400, 'The request cannot be answered', ['request_validation_error']],
  [401, 'The key or token is missing or invalid', ['auth_token_missing_error', 'auth_invalid_token_error']],
  [404, 'Nothing was found', []],
  [429, 'Too many tokens were requested', []],
  [500, 'An unexpected error', ['unexpected_error']],
  [
    503,
    'The service cannot answer now; `Retry-After` has the seconds to wait',
    ['app_not_ready_error', 'app_query_timeout_error'],
  ],
]

function statusOf(code: string): number {
  if (code === 'block_time_not_found') return 404
  if (code === 'auth_rate_limited_error') return 429
  return code.startsWith('auth_') ? 401 : 400
}

/** Builds the OpenAPI 3.1 document of the state service. */
export function createOpenApiDocument(endpoints: readonly Endpoint[], info: ServerInfo): Schema {
  const titled = new Map<string, unknown>()
  const paths = Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, describePath(endpoint)]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pronghorn state API',
      version: info.version,
      description:
        `State of the ${info.chain} chain by block: the ABI of every contract, and the rows, permissions and blocks that ` +
        'this server stores.\n\n## Requests\n\n`/v1/auth/issue` returns a token for an API key, and every other ' +
        'request must contain the token. All error responses have the same form. The status is 400 if an ABI, a table, ' +
        'a row or a public key was not found, and 404 if a path or a block at a time was not found.',
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: referTitled(paths, titled),
    components: {
      schemas: { Failure: envelope, ...Object.fromEntries(titled) },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        query: { type: 'apiKey', in: 'query', name: 'token' },
      },
    },
  }
}

/** Replaces every schema with a title by a reference, and collects these schemas in `titled`. */
function referTitled(value: unknown, titled: Map<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((each) => referTitled(each, titled))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [key, referTitled(each, titled)] as const)
  const title: unknown = 'title' in value && 'type' in value ? value.title : undefined
  if (typeof title !== 'string') return Object.fromEntries(entries)
  titled.set(title, Object.fromEntries(entries))
  return { $ref: `#/components/schemas/${title}` }
}

function describePath(endpoint: Endpoint): Schema {
  return Object.fromEntries(
    endpoint.methods.map((method) => [method.toLowerCase(), describeOperation(endpoint, method)]),
  )
}

function describeOperation(endpoint: Endpoint, method: 'GET' | 'POST'): Schema {
  return {
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    operationId: operationId(method.toLowerCase(), endpoint.path),
    security: endpoint.needsToken ? [{ bearer: [] }, { query: [] }] : [],
    ...(method === 'GET' ? { parameters: queryParameters(endpoint) } : { requestBody: bodyOf(endpoint) }),
    responses: {
      200: {
        description: endpoint.summary,
        headers: { 'X-Trace-ID': { schema: { type: 'string' } } },
        content: { 'application/json': { schema: endpoint.answer } },
      },
      ...failureResponses(endpoint),
    },
  }
}

function queryParameters({ parameters }: Endpoint): Schema[] {
  return Object.entries(parameters).map(([name, parameter]) =>
    describeParameter(name, { ...parameter, isRequired: parameter.isRequired ?? false }),
  )
}

function bodyOf({ parameters, body }: Endpoint): Schema {
  const schema = {
    type: 'object',
    properties: describeMembers(parameters),
    required: Object.keys(parameters).filter((name) => parameters[name]!.isRequired),
  }
  const types =
    body === 'json' ? ['application/json'] : ['application/x-www-form-urlencoded', 'application/json']
  return { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) }
}

function failureResponses({ refusals, needsToken }: Endpoint): Schema {
  const described = failures.flatMap(([status, text, common]) => {
    const usual = status === 401 && !needsToken ? [] : common
    const codes = [...usual, ...refusals.filter((code) => statusOf(code) === status)]
    if (codes.length === 0) return []
    const response = {
      description: `${text}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
    }
    return [[String(status), response] as const]
  })
  return Object.fromEntries(described)
}
