import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeError, PronghornError } from '../../core/errors/index.ts'
import { listen } from '../ship/index.ts'
import type { Answer } from './answers.ts'
import { ChainApiError, invalidRequest } from './errors.ts'
import type { Params } from './params.ts'

/** A running chain API. */
export interface ChainApi {
  readonly url: string
  close(): Promise<void>
}

const MAX_BODY_BYTES = 64 * 1024
const REQUEST_TIMEOUT_MS = 10_000
const PREFIX = '/v1/chain/'

/**
 * Serves the chain API.
 * @throws FatalError PORT_UNAVAILABLE when the address cannot be listened on
 */
export async function startChainApi(
  answers: ReadonlyMap<string, Answer>,
  address: { readonly host: string; readonly port: number },
): Promise<ChainApi> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    respond(answers, request, response).catch((error: unknown) => fail(response, error))
  })
  await listen(server, address)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function respond(
  answers: ReadonlyMap<string, Answer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const answer = url.pathname.startsWith(PREFIX) ? answers.get(url.pathname.slice(PREFIX.length)) : undefined
  if (answer === undefined) throw new ChainApiError(404, 0, 'exception', 'Unknown Endpoint')
  if (request.method !== 'POST' && request.method !== 'GET') {
    throw new ChainApiError(405, 0, 'exception', 'POST or GET')
  }
  const params = { ...Object.fromEntries(url.searchParams), ...parseBody(await readBody(request)) }
  send(response, 200, answer(params))
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) {
      throw new ChainApiError(413, 0, 'exception', `a request has at most ${MAX_BODY_BYTES} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseBody(text: string): Params {
  if (text.trim() === '') return {}
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw invalidRequest('the body is not JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest('the body is not a JSON object')
  }
  return body as Params
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  // Close the connection: the rest of the oversized body must not be read.
  response.setHeader('connection', 'close')
  const known =
    error instanceof ChainApiError
      ? error
      : new ChainApiError(
          500,
          error instanceof PronghornError ? 3_015_000 : 0,
          'exception',
          describeError(error),
        )
  send(response, known.status, known.body())
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}
