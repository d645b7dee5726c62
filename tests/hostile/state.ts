import { Agent, request } from 'node:http'
import jsonwebtoken from 'jsonwebtoken'
import { createChoices } from '../../scripts/compare/requests/choices.ts'
import type { Choices } from '../../scripts/compare/requests/choices.ts'
import { hostileJson, hostileTexts } from '../../scripts/compare/requests/values.ts'
import { patient } from '../setup/patience.ts'
import { noise } from './ship-relay.ts'
import { addressOf } from './rest.ts'
import { isHonest, Tally } from './tally.ts'

const PATIENCE_MS = patient(60_000)

/** Valid values of request parameters, by parameter name. */
const meant: Readonly<Record<string, readonly string[]>> = {
  account: ['atomicassets', 'eosio', 'eosio.token', 'atomicmarket', 'delphioracle'],
  accounts: ['atomicassets|eosio', 'atomicmarket'],
  table: ['assets', 'collections', 'schemas', 'templates', 'sales', 'config', 'accounts'],
  scope: ['atomicassets', 'atomicmarket', 'alice', ''],
  scopes: ['atomicassets', 'alice|bob'],
  key_type: ['name', 'hex', 'hex_be', 'uint64', 'symbol', 'symbol_code'],
  irreversible_only: ['true', 'false'],
  json: ['true', 'false'],
}

/** An endpoint and its parameters. */
interface Place {
  readonly path: string
  readonly methods: readonly string[]
  readonly parameters: readonly string[]
}

/** Members of the state service's OpenAPI document that the attack uses. */
interface StateDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, StateOperation>>>>
}

interface StateOperation {
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly properties?: object } }>>
  }
}

function namesOf({ parameters = [], requestBody }: StateOperation): string[] {
  const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) =>
    Object.keys(schema.properties ?? {}),
  )
  return [...new Set([...parameters.map(({ name }) => name), ...schemas.flat()])]
}

/** Sends malformed requests and tokens to the state service. */
export class StateAttack {
  readonly tally = new Tally('state service: requests')
  readonly #url: URL
  readonly #places: readonly Place[]
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  private constructor(url: string, places: readonly Place[], token: string) {
    this.#url = new URL(url)
    this.#places = places
    this.#token = token
  }

  static async open(url: string, key: string): Promise<StateAttack> {
    const issued = await fetch(`${url}/v1/auth/issue`, {
      method: 'POST',
      body: JSON.stringify({ api_key: key }),
    })
    const { token } = (await issued.json()) as { token: string }
    const document = (await (await fetch(`${url}/v0/openapi.json`)).json()) as StateDocument
    const places = Object.entries(document.paths).map(([path, item]) => ({
      path,
      methods: Object.keys(item).map((method) => method.toUpperCase()),
      parameters: Object.values(item).flatMap(namesOf),
    }))
    return new StateAttack(url, places, token)
  }

  async send(seed: number): Promise<void> {
    const random = createChoices(seed)
    const place = random.pick(this.#places)
    const query = queryOf(place, random)
    const isJson = random.chance(0.2)
    const method = random.chance(0.9)
      ? random.pick(place.methods)
      : random.pick(['PUT', 'DELETE', 'HEAD', 'OPTIONS', 'POST'])
    const path = random.chance(0.05)
      ? random.pick(['/', '/v0/state', '//', '/v0/state/table/%ff', '/v0/../x'])
      : place.path
    const body = method === 'POST' ? bodyOf(place, random) : undefined
    this.tally.sent++
    const answer = await this.#ask({
      method,
      path: isJson || query === '' ? path : `${path}?${query}`,
      headers: {
        'x-forwarded-for': addressOf(random),
        authorization: this.#authorization(random),
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
      body,
    }).catch((error: unknown) => ({ status: NaN, text: String(error) }))
    this.tally.note(String(answer.status))
    if (!isHonest(answer.status) || Number.isNaN(answer.status))
      this.tally.blame(
        `seed ${seed} ${method} ${path}?${query} ${body?.toString().slice(0, 200) ?? ''} -> ${answer.status} ${answer.text}`,
      )
  }

  close(): void {
    this.#agent.destroy()
  }

  #authorization(random: Choices): string {
    if (random.chance(0.6)) return `Bearer ${this.#token}`
    const [head = '', body = '', signature = ''] = this.#token.split('.')
    const claims = { sub: 'x', iss: 'pronghorn', aud: 'state', exp: 4_000_000_000 }
    return random.pick([
      '',
      'Bearer',
      'Bearer x',
      'Basic eDp5',
      `Bearer ${'a'.repeat(10_000)}`,
      `Bearer ${head}.${body}.`,
      `Bearer ${head}.${body}.${signature.slice(0, -2)}`,
      `Bearer ${encode({ alg: 'none', typ: 'JWT' })}.${body}.`,
      `Bearer ${encode({ alg: 'HS512', typ: 'JWT' })}.${body}.${signature}`,
      `Bearer ${encode({ alg: 'HS256', crit: ['x'] })}.${body}.${signature}`,
      `Bearer ${head}.${encode(claims)}.${signature}`,
      `Bearer ${jsonwebtoken.sign(claims, 'secret')}`,
      `Bearer ${'.'.repeat(random.below(2_000))}`,
    ])
  }

  #ask(given: {
    method: string
    path: string
    headers: Record<string, string>
    body: Buffer | undefined
  }): Promise<{ status: number; text: string }> {
    const { body, ...what } = given
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: this.#url.hostname, port: this.#url.port, agent: this.#agent, ...what },
        (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => {
            if (text.length < 300) text += chunk.toString('latin1').slice(0, 300)
          })
          response.on('error', reject)
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        },
      )
      sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error('no answer within a minute')))
      sent.on('error', reject).end(body)
    })
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function queryOf({ parameters }: Place, random: Choices): string {
  const parts = parameters
    .filter(() => random.chance(0.7))
    .map((name) => {
      const values = meant[name]
      const value =
        values && random.chance(0.75)
          ? random.pick(values)
          : random.pick([...hostileTexts, '1', '500', '100000000'])
      return `${random.chance(0.02) ? `${name}[]` : name}=${encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '?'))}`
    })
  return parts.join('&')
}

function bodyOf({ parameters }: Place, random: Choices): Buffer {
  switch (random.below(6)) {
    case 0:
      return noise(random, random.below(2_000))
    case 1:
      return Buffer.from(
        random.pick(['', '{', '[]', 'null', '"x"', `${'['.repeat(20_000)}${']'.repeat(20_000)}`]),
      )
    case 2:
      return Buffer.from(JSON.stringify({ api_key: random.pick([...hostileTexts, ...hostileJson]) }))
    case 3:
      return Buffer.from(
        parameters
          .map((name) => `${name}=${encodeURIComponent(random.pick(['x', '1', '%', 'atomicassets']))}`)
          .join('&'),
      )
    default:
      return Buffer.from(
        JSON.stringify(
          Object.fromEntries(
            parameters.map((name) => [
              name,
              random.pick<unknown>([
                ...hostileJson,
                ...(meant[name] ?? hostileTexts),
                ['00', 'ff'],
                Array(2_000).fill('00'),
              ]),
            ]),
          ),
        ),
      )
  }
}
