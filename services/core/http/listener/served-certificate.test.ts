import { createServer } from 'node:tls'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { expect, it } from 'vitest'
import { readServedCertificate } from './served-certificate.ts'

it('the certificate check reads the expiry of the served certificate, also of a self-signed certificate', async () => {
  const endsAt = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 5 * 86_400_000)
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    notAfterDate: endsAt,
  })
  const server = createServer({ cert, key }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const served = await readServedCertificate('127.0.0.1', port, 'localhost')
    expect(served.endsMs).toBe(endsAt.getTime())
    expect(served.fingerprint).toMatch(/^[0-9A-F:]{95}$/)
  } finally {
    server.close()
  }
  await expect(readServedCertificate('127.0.0.1', port, 'localhost')).rejects.toThrow()
})
