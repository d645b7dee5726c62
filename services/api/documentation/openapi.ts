import { operationId } from '../../core/endpoint/index.ts'
import { shape } from '../endpoint/index.ts'
import { eventSchemas, noticeSchemas, plainPaths } from '../live/index.ts'
import type { Endpoint, RecordSchema } from '../endpoint/index.ts'
import type { Mount, RootRoute, RouteDocumentation } from '../http/index.ts'
import { Components } from './components.ts'
import type { JsonObject } from './components.ts'
import { describeBody, describeParameters } from './parameters.ts'

/** Facts about the server that the OpenAPI document shows. */
export interface ServerInfo {
  readonly version: string
  /** `server_name`, `provider_name` and `provider_url` of the configuration; empty if unknown. */
  readonly serverName: string
  readonly providerName: string
  readonly providerUrl: string
  /** Name of the chain. */
  readonly chain: string
}

/** Parts of the OpenAPI document that all endpoints share. */
interface DocumentParts {
  readonly components: Components
  /** Error responses of every endpoint. */
  readonly failures: JsonObject
}

/** Name in place of a namespace for the components of the OpenAPI document that belong to no namespace. */
const SERVER = 'server'

/** Error responses of every endpoint: component name, status and description. */
const commonFailures: Readonly<Record<string, readonly [status: number, text: string]>> = {
  BadRequest: [400, 'A parameter is wrong; the message names the first wrong parameter.'],
  QueryTimeout: [408, 'The query took too long; more filters make the query faster.'],
  TooManyRequests: [429, 'The limit of requests is reached.'],
  Unavailable: [503, 'The database is unavailable or too busy; `Retry-After` says when to retry.'],
}

export function documentTitle({ serverName }: ServerInfo): string {
  return serverName === '' ? 'Pronghorn API' : `Pronghorn API at ${serverName}`
}

/** Builds the OpenAPI 3.1 document of all mounted namespaces and of the documented routes outside them. */
export function createOpenApiDocument(
  mounts: readonly Mount[],
  roots: readonly RootRoute[],
  info: ServerInfo,
): JsonObject {
  const components = new Components()
  const parts = { components, failures: failureResponses(components) }
  const paths: Record<string, JsonObject> = {}
  for (const { paths: own, documentation } of roots) {
    if (documentation) paths[own[0]!] = describeRoot(own[0]!, documentation, components)
  }
  for (const mount of mounts) {
    for (const endpoint of mount.namespace.endpoints) {
      const path = mount.paths[0]! + endpoint.path
      paths[path.replaceAll(/:(\w+)/g, '{$1}')] = describePath(mount, path, endpoint, parts)
    }
  }
  return {
    openapi: '3.1.0',
    info: describeServer(info, mounts),
    servers: [{ url: '/', description: 'This server' }],
    tags: [...mounts.flatMap(describeTags), { name: SERVER, description: 'Routes outside the namespaces' }],
    paths: sortByKey(paths),
    'x-live': Object.fromEntries(mounts.map((mount) => [mount.paths[0]!, describeLive(mount, components)])),
    components: components.toJson(),
  }
}

/**
 * Describes the messages of the websocket and the event stream as the extension `x-live`, because OpenAPI has no
 * keyword for them.
 */
function describeLive({ namespace, paths }: Mount, components: Components): JsonObject {
  const refer = (schema: RecordSchema): JsonObject => components.schema(schema, namespace.name)
  const events = [...eventSchemas(namespace)].map(([name, schema]) => [name, refer(schema)])
  return {
    websocket: paths[0]! + plainPaths.live,
    eventStream: paths[0]! + plainPaths.events,
    events: Object.fromEntries(events) as JsonObject,
    notices: noticeSchemas.map(refer),
  }
}

function sortByKey(paths: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Describes live events in the text of the OpenAPI document, because the documentation page does not show `x-live`. */
function liveText(mounts: readonly Mount[]): string {
  const rows = mounts.map(({ namespace, paths }) => {
    const events = [...eventSchemas(namespace).keys()].map((name) => `\`${name}\``).join(', ')
    const [path] = paths
    return `- \`${path! + plainPaths.live}\`, [\`${path! + plainPaths.events}\`](${path! + plainPaths.events}): ${events}`
  })
  return [
    '\n\n## Live events',
    '',
    'Events are published as blocks are committed, with the record that they are about: over a websocket, as ' +
      'server-sent events, and over socket.io. Filters are parameters: `?events=sale_purchased&accounts=alice`. ' +
      '`x-live` of [openapi.json](/openapi.json) has the schema of every message. Websocket, server-sent events and the ' +
      'names of the events:',
    '',
    ...rows,
  ].join('\n')
}

function describeServer(info: ServerInfo, mounts: readonly Mount[]): JsonObject {
  const { providerName, providerUrl } = info
  const hasUrl = URL.canParse(providerUrl)
  const contact =
    providerName === '' && !hasUrl
      ? {}
      : {
          contact: {
            ...(providerName === '' ? {} : { name: providerName }),
            ...(hasUrl ? { url: providerUrl } : {}),
          },
        }
  return {
    title: documentTitle(info),
    version: info.version,
    description:
      `NFT data of the ${info.chain} chain. Every answer is an envelope: \`success\`, then \`data\` and \`query_time\` ` +
      'or `message`. Integers of 64 bits, supplies, counts, block numbers and times are decimal strings; times are ' +
      'milliseconds since 1970. Several values of a parameter are separated by commas. The query parameters of GET are ' +
      `also accepted by POST as a JSON or form body.${liveText(mounts)}`,
    ...contact,
  }
}

const HISTORY =
  'If `history_since_block` of `/v1/config` is set, the answer covers the time since that block, because the database began with the ' +
  'state of the chain at that block. Otherwise the answer covers the whole history.'

/** Whether the endpoint at a path returns history, and not only the current state. */
function hasHistory(path: string): boolean {
  return /\/(logs|transfers|burns|prices|stats|payouts|graph)\b|\/:asset_id\/sales|\/sales\/templates|\/v1\/royalties\/accounts/.test(
    path,
  )
}

function describeTags({ namespace, paths }: Mount): JsonObject[] {
  const [first, ...aliases] = paths
  const also = aliases.length === 0 ? '' : `, also below ${aliases.map((path) => `\`${path}\``).join(', ')}`
  return [...new Set(namespace.endpoints.map(({ tag }) => tag))].sort().map((tag) => ({
    name: tagName(first!, tag),
    description: `Namespace ${namespace.name} at \`${first!}\`${also}`,
  }))
}

function tagName(path: string, tag: string): string {
  return `${path.slice(1)}: ${tag}`
}

function describePath(
  { namespace, paths }: Mount,
  path: string,
  endpoint: Endpoint,
  { components, failures }: DocumentParts,
): JsonObject {
  const owner = namespace.name
  const common = {
    tags: [tagName(paths[0]!, endpoint.tag)],
    summary: endpoint.summary,
    ...(hasHistory(path) ? { description: HISTORY } : {}),
  }
  const responses = {
    200: success(endpoint, components, owner),
    ...failures,
    ...ownFailures(endpoint),
  }
  const get = {
    ...common,
    operationId: operationId('get', path),
    parameters: describeParameters(endpoint, components),
    responses,
  }
  const body = endpoint.method === 'get' ? undefined : describeBody(endpoint)
  if (!body) return { get }
  const inPath = Object.fromEntries(
    Object.entries(endpoint.parameters).filter(([, parameter]) => parameter.in === 'path'),
  )
  const schema = components.refer('schemas', `${recordTitle(endpoint)}Query`, body, owner)
  const post = {
    ...common,
    operationId: operationId('post', path),
    parameters: describeParameters({ ...endpoint, parameters: inPath, attributes: [] }, components),
    requestBody: {
      content: {
        'application/json': { schema },
        'application/x-www-form-urlencoded': { schema },
        'multipart/form-data': { schema },
      },
    },
    responses,
  }
  return { get, post }
}

/**
 * Name of an OpenAPI operation and of its record. The operation of a `_count` path is named after the list whose rows
 * it counts.
 */
function recordTitle({ path }: Endpoint): string {
  return operationId('', path.replace(/\/_count$/, ''))
}

function success(endpoint: Endpoint, components: Components, owner: string): JsonObject {
  const counts = 'count' in endpoint.parameters && endpoint.record !== shape.rowCount
  const data: RecordSchema = counts
    ? shape.anyOf([endpoint.record, shape.rowCount], 'The rows, or with `count=true` their number')
    : endpoint.record
  return { description: endpoint.summary, content: envelope(components.schema(data, owner)) }
}

function envelope(data: JsonObject): JsonObject {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      success: { const: true },
      data,
      query_time: { type: 'integer', description: 'Time on the server, ms since 1970' },
    },
    required: ['success', 'data', 'query_time'],
  }
  return { 'application/json': { schema } }
}

function describeRoot(path: string, documentation: RouteDocumentation, components: Components): JsonObject {
  const { summary, record, failures = [], refusal } = documentation
  const content = record
    ? envelope(components.schema(record, SERVER))
    : { 'text/html': { schema: { type: 'string' } } }
  const responses = [{ status: 200, message: summary }, ...failures].map(({ status, message }) => [
    status,
    { description: message, content },
  ])
  return {
    get: {
      tags: [SERVER],
      summary,
      operationId: operationId('get', path),
      parameters: [],
      responses: {
        ...(Object.fromEntries(responses) as JsonObject),
        ...ownFailures({ failures: refusal === undefined ? [] : [{ status: 400, message: refusal }] }),
      },
    },
  }
}

function failureResponses(components: Components): JsonObject {
  const schema = components.refer(
    'schemas',
    'Failure',
    {
      type: 'object',
      description: 'Answer to a request that failed',
      properties: {
        success: { const: false },
        message: { type: 'string', description: 'Cause of the failure' },
      },
      required: ['success', 'message'],
    },
    SERVER,
  )
  const entries = Object.entries(commonFailures).map(([name, [status, description]]) => [
    status,
    components.refer('responses', name, { description, content: { 'application/json': { schema } } }, SERVER),
  ])
  return Object.fromEntries(entries) as JsonObject
}

function ownFailures({ failures = [] }: Pick<Endpoint, 'failures'>): JsonObject {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } }
  return Object.fromEntries(
    failures.map(({ status, message }) => [status, { description: message, content }]),
  )
}
