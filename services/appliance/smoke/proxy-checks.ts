import type { Check } from './check.ts'
import { expectThat, NotApplicable } from './check.ts'
import type { Ask } from './client.ts'
import { handshake } from './client.ts'

/** Checks TLS and the headers, and that a client cannot forge its IP address. */
export function proxyChecks(base: URL, ask: Ask, insecure: boolean): Check[] {
  return [
    {
      name: 'tls',
      run: async () => {
        if (base.protocol !== 'https:') throw new NotApplicable('not over TLS')
        const old = await handshake(base, 'TLSv1.1')
        expectThat(old === null, 'TLS 1.1 is accepted')
        const found = (await handshake(base, 'TLSv1.3')) ?? (await handshake(base, 'TLSv1.2'))
        expectThat(found !== null, 'neither TLS 1.3 nor 1.2 is accepted')
        expectThat(found.daysLeft > 0, 'the certificate has expired')
        expectThat(
          insecure || found.verified,
          'the certificate cannot be verified (--insecure accepts any certificate)',
        )
        return `${found.protocol}, certificate ${found.verified ? 'verified' : 'not verified'}, expires in ${found.daysLeft} days`
      },
    },
    {
      name: 'headers',
      run: async () => {
        const { headers } = await ask('/health')
        expectThat(
          !/\d/.test(String(headers.server)),
          `the server discloses its version: ${String(headers.server)}`,
        )
        expectThat(headers['x-powered-by'] === undefined, 'X-Powered-By is sent')
        // If CORS is limited to patterns of origins, only an allowed origin gets the CORS header, and the answer has
        // `Vary: Origin`.
        const allowed =
          headers['access-control-allow-origin'] ??
          (/\borigin\b/i.test(headers.vary ?? '') ? 'the origins of server.config.json' : undefined)
        expectThat(allowed !== undefined, 'neither Access-Control-Allow-Origin nor Vary: Origin')
        return `server ${String(headers.server)}, CORS for ${allowed}`
      },
    },
    {
      name: 'compression',
      run: async () => {
        const { headers } = await ask('/openapi.json', { headers: { 'accept-encoding': 'gzip' } })
        expectThat(headers['content-encoding'] === 'gzip', 'a large answer is not compressed')
        return 'gzip'
      },
    },
  ]
}
