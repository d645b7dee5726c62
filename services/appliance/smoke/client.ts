import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:tls'
import type { SecureVersion } from 'node:tls'

const TIMEOUT_MS = 15_000
const MAX_BODY_BYTES = 32 * 1024 * 1024

/** An HTTP response. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface AskOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request to the server under test. `path` is relative to the URL of the server. */
export type Ask = (path: string, options?: AskOptions) => Promise<Answer>

/** A client of one server. `insecure` accepts any certificate. A redirect is returned, not followed. */
export function createClient(base: URL, insecure: boolean): Ask {
  return (path, options = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(path, base)
      const send = url.protocol === 'https:' ? requestTls : requestPlain
      const request = send(
        url,
        {
          method: options.method ?? 'GET',
          headers: options.headers ?? {},
          rejectUnauthorized: !insecure,
          signal: AbortSignal.timeout(TIMEOUT_MS),
        },
        (response) => {
          const chunks: Buffer[] = []
          let size = 0
          response.on('data', (chunk: Buffer) => {
            size += chunk.length
            if (size > MAX_BODY_BYTES) request.destroy(new RangeError('the answer is too large'))
            else chunks.push(chunk)
          })
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8')
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
          })
          response.on('error', reject)
        },
      )
      request.on('error', reject)
      request.end(options.body)
    })
}

/** Result of a TLS handshake with one version; null if the server refuses it. */
export function handshake(
  base: URL,
  version: SecureVersion,
): Promise<{ protocol: string; daysLeft: number; verified: boolean } | null> {
  return new Promise((resolve) => {
    const socket = connect({
      host: base.hostname,
      port: Number(base.port || 443),
      servername: base.hostname,
      minVersion: version,
      maxVersion: version,
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
      // With its default ciphers, OpenSSL in this process refuses TLS 1.1 before the server can refuse it.
      ...(version === 'TLSv1.1' ? { ciphers: 'DEFAULT:@SECLEVEL=0' } : {}),
    })
    const end = (result: Parameters<typeof resolve>[0]): void => {
      socket.destroy()
      resolve(result)
    }
    socket.on('secureConnect', () => {
      const ends = Date.parse(socket.getPeerCertificate().valid_to)
      const daysLeft = Math.floor((ends - Date.now()) / 86_400_000)
      end({ protocol: socket.getProtocol() ?? '', daysLeft, verified: socket.authorized })
    })
    socket.on('error', () => end(null))
    socket.on('timeout', () => end(null))
  })
}
