import type { Form } from '../../../services/core/endpoint/index.ts'
import type { Choices } from './choices.ts'
import type { Given } from './encodings.ts'
import { formText, jsonValue, wellFormed } from './encodings.ts'
import type { KnownValues, NamedForm } from './values.ts'
import { hostileJson, hostileTexts, textFor } from './values.ts'

/** A raw HTTP request. */
export interface FuzzRequest {
  readonly method: string
  /** Path and query with percent escapes exactly as they are sent; some are malformed. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Properties of an endpoint from which requests are generated. */
export interface RequestedEndpoint {
  /** Path with parameters, for example `/v1/assets/:asset_id`. */
  readonly path: string
  readonly parameters: Readonly<Record<string, Form & { readonly in?: 'path' }>>
}

/** An endpoint, and the path of a namespace that serves it. */
export interface Target {
  readonly prefix: string
  readonly endpoint: RequestedEndpoint
}

/** Paths outside the namespaces, and paths that do not exist. */
const otherPaths: readonly string[] = [
  '/docs',
  '/docs/',
  '/docs/swagger-ui.css',
  '/docs/none',
  '/openapi.json',
  '/timestamp',
  '/healthc',
  '/',
  '//',
  '/none',
  '/assets',
  '/assets/docs',
  '/atomicassets/v1/schemas/x',
  '/assets//v1/assets',
  '/assets/v1/assets/%',
  '/assets/v1/assets/%zz',
  '/assets/v1/assets/%ff',
  '/assets/v1/assets/%c0%af',
  '/assets/v1/collections/%00',
  '/assets/v1/../v1/config',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/assets/v1/assets/_count/_count',
  `/assets/v1/collections/${'a'.repeat(2_000)}`,
]

const families = ['data', 'template_data', 'immutable_data', 'mutable_data']
const typings = ['', ':text', ':number', ':bool', ':none']
const attributeNames = [
  'name',
  'level',
  'img',
  'f8',
  'u64',
  'vi8',
  '',
  'a.b',
  '__proto__',
  'é',
  "'",
  'x]',
  '[0',
]

/** Percent escapes that no encoder produces. */
const oddEscapes = [
  '%',
  '%zz',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%u0041',
  '%00',
  '%0d%0a',
  '+',
  '%2B',
  '%26',
  '%3D',
]

const malformedBodies: readonly string[] = [
  '',
  '{',
  '}',
  '{"limit":',
  '{"limit":1}}',
  '[1,2',
  '"text"',
  '1',
  'null',
  '[{"limit":1}]',
  "{'limit':1}",
  '{"limit":01}',
  '{"limit":1e999}',
  '{"__proto__":{"limit":1},"constructor":1}',
  '{"limit":1,"limit":"x"}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`,
  '\ufeff{"limit":"1"}',
  '{"match":"\\ud800"}',
  '{"match":"\\u0000"}',
]

const contentTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=latin1',
  'application/x-www-form-urlencoded',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/json, text/html',
  'x',
]

/** Generates a request with a random path and random parameters. */
export function makeRequest(targets: readonly Target[], known: KnownValues, random: Choices): FuzzRequest {
  if (random.chance(0.03)) {
    return { method: methodFor(random), target: random.pick(otherPaths), headers: {}, body: undefined }
  }
  const { prefix, endpoint } = random.pick(targets)
  const path = prefix + fillPath(endpoint, known, random)
  const parameters = pickParameters(endpoint, known, random)
  const roll = random.below(20)
  if (roll < 11)
    return { method: 'GET', target: withQuery(path, parameters, random), headers: {}, body: undefined }
  if (roll < 12)
    return {
      method: methodFor(random),
      target: withQuery(path, parameters, random),
      headers: {},
      body: undefined,
    }
  if (roll < 17) return jsonRequest(path, parameters, random)
  if (roll < 19) return formRequest(path, parameters)
  return oddBody(withQuery(path, parameters.slice(0, 1), random), random)
}

function methodFor(random: Choices): string {
  return random.pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
}

function fillPath(endpoint: RequestedEndpoint, known: KnownValues, random: Choices): string {
  const isHostile = random.chance(0.15)
  return endpoint.path.replaceAll(/:(\w+)/g, (_match, name: string) => {
    const parameter = endpoint.parameters[name]!
    const text = isHostile ? random.pick(hostileTexts) : textFor({ ...parameter, name }, known, random)
    // An empty path segment would address another endpoint.
    return encodeURIComponent(Buffer.from(text || 'x').toString()).slice(0, 4_000)
  })
}

function pickParameters(endpoint: RequestedEndpoint, known: KnownValues, random: Choices): Given[] {
  const own = Object.entries(endpoint.parameters)
    .filter(([, parameter]) => parameter.in !== 'path')
    .map(([name, parameter]): NamedForm => ({ ...parameter, name }))
  const given: Given[] = []
  const limit = own.find(({ name }) => name === 'limit')
  // Mostly small pages: more requests fit into the same time.
  if (limit && random.chance(0.8)) given.push(['limit', String(1 + random.below(8))])
  for (let left = random.below(5); left > 0 && own.length > 0; left--) {
    const parameter: NamedForm = random.pick(own)
    given.push([parameter.name, textFor(parameter, known, random)])
  }
  if (random.chance(0.15))
    given.push([attributeFilter(random), random.pick([...hostileTexts, 'Sword', '22', '1'])])
  if (random.chance(0.05))
    given.push([random.pick(['unknown', '__proto__', 'toString', '', 'limit.x', 'sort[]']), 'x'])
  if (random.chance(0.05) && given.length > 0) given.push([random.pick(given)[0], random.pick(hostileTexts)])
  return given
}

function attributeFilter(random: Choices): string {
  return `${random.pick(families)}${random.pick(typings)}.${random.pick(attributeNames)}`
}

function withQuery(path: string, parameters: readonly Given[], random: Choices): string {
  if (parameters.length === 0) return path
  const parts = parameters.map(([name, value]) => {
    const shown = random.chance(0.05)
      ? random.pick([`${name}[]`, `${name}[a]`, `${name}[a][b]`, `${name}[`])
      : name
    const odd = random.chance(0.03) ? random.pick(oddEscapes) : ''
    return `${encodeURIComponent(shown)}=${encodeURIComponent(wellFormed(value))}${odd}`
  })
  return `${path}?${parts.join(random.chance(0.02) ? '&&' : '&')}`.slice(0, 12_000)
}

function jsonRequest(path: string, parameters: readonly Given[], random: Choices): FuzzRequest {
  const members = parameters.map(([name, text]) => {
    const value = random.chance(0.15) ? random.pick(hostileJson) : jsonValue(text, true, random)
    return `${JSON.stringify(name)}:${JSON.stringify(value)}`
  })
  const headers = { 'content-type': random.pick(contentTypes.slice(0, 2)) }
  return { method: 'POST', target: path, headers, body: `{${members.join(',')}}` }
}

function formRequest(path: string, parameters: readonly Given[]): FuzzRequest {
  return {
    method: 'POST',
    target: path,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: formText(parameters),
  }
}

function oddBody(target: string, random: Choices): FuzzRequest {
  const headers: Record<string, string> = { 'content-type': random.pick(contentTypes) }
  if (random.chance(0.1)) headers['content-encoding'] = random.pick(['gzip', 'br', 'x'])
  if (random.chance(0.2)) headers['accept-encoding'] = random.pick(['gzip', 'br', '*;q=0', 'x, y;q=z'])
  if (random.chance(0.2)) headers['if-none-match'] = random.pick(['*', 'W/"x"', '"', ''])
  return { method: random.pick(['POST', 'GET', 'PUT']), target, headers, body: random.pick(malformedBodies) }
}
