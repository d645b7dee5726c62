import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientKeyOf, createAddressSet, normalizeAddress } from './addresses.ts'
import { createClientFinder } from './clients.ts'
import type { TrustedProxies } from './clients.ts'

function find(trusted: TrustedProxies, peer: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  const request = { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage
  return createClientFinder(trusted)(request).address
}

describe('IP addresses', () => {
  it('an IP address is normalized to one spelling, and any other text to undefined', () => {
    expect(
      ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '2001:DB8:0:0::1', 'fe80::1%eth0'].map(
        normalizeAddress,
      ),
    ).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.1', '2001:db8::1', 'fe80::1'])
    expect(['', 'host', '1.2.3', '1.2.3.4.5', '010.0.0.1', '::g', '1.2.3.4/8'].map(normalizeAddress)).toEqual(
      Array(7).fill(undefined),
    )
  })

  it('an IPv4 address is counted by itself, an IPv6 address by its /56 network', () => {
    expect(clientKeyOf('192.0.2.1')).toBe('192.0.2.1')
    expect(clientKeyOf('2001:db8:1:2ff::1')).toBe('2001:db8:1:200::')
    expect(clientKeyOf('2001:db8:1:2aa:ffff::')).toBe('2001:db8:1:200::')
    expect(clientKeyOf('2001:db8:1:3ff::1')).toBe('2001:db8:1:300::')
    expect(clientKeyOf('unknown')).toBe('unknown')
  })

  it('an address is matched against addresses, ranges and named ranges, also in IPv4-mapped form', () => {
    const has = createAddressSet([
      '192.0.2.7',
      '10.0.0.0/8',
      '2001:db8::/32',
      '::ffff:198.51.100.0/120',
      'loopback',
    ])
    for (const inside of ['192.0.2.7', '10.255.0.1', '2001:db8:ffff::', '198.51.100.9', '127.0.0.1', '::1']) {
      expect(has(inside), inside).toBe(true)
    }
    for (const outside of ['192.0.2.8', '11.0.0.1', '2001:db9::', '198.51.101.9', '128.0.0.1', 'unknown']) {
      expect(has(outside), outside).toBe(false)
    }
    expect(createAddressSet([])('127.0.0.1')).toBe(false)
  })
})

describe('the client of a request', () => {
  it('the client of a request is the peer when no proxy is trusted', () => {
    expect(find(false, '::ffff:192.0.2.1', '9.9.9.9')).toBe('192.0.2.1')
  })

  it('with N trusted proxies, the client of a request is entry N of X-Forwarded-For, counted from the right', () => {
    const chain = '9.9.9.9, 8.8.8.8, 7.7.7.7'
    expect(find(true, '192.0.2.1', chain)).toBe('7.7.7.7')
    expect(find(1, '192.0.2.1', chain)).toBe('7.7.7.7')
    expect(find(2, '192.0.2.1', chain)).toBe('8.8.8.8')
    expect(find(32, '192.0.2.1', chain)).toBe('9.9.9.9')
    expect(find(true, '192.0.2.1')).toBe('192.0.2.1')
  })

  it('with named trusted proxies, the client of a request is the first entry of X-Forwarded-For from the right that is no trusted proxy', () => {
    const trusted = ['loopback', '10.0.0.0/8']
    expect(find(trusted, '127.0.0.1', '6.6.6.6, 9.9.9.9, 10.1.1.1')).toBe('9.9.9.9')
    expect(find('loopback, 10.0.0.0/8', '127.0.0.1', '9.9.9.9, 10.1.1.1')).toBe('9.9.9.9')
    expect(find(trusted, '192.0.2.1', '9.9.9.9, 10.1.1.1')).toBe('192.0.2.1')
    expect(find(trusted, '127.0.0.1', '10.2.2.2, 10.1.1.1')).toBe('10.2.2.2')
  })

  it('the client address may contain a port; forwarded addresses before an invalid entry are ignored', () => {
    expect(find(true, '192.0.2.1', '9.9.9.9:4711')).toBe('9.9.9.9')
    expect(find(true, '192.0.2.1', '[2001:db8::5]:4711')).toBe('2001:db8::5')
    expect(find(2, '192.0.2.1', '9.9.9.9, unknown')).toBe('192.0.2.1')
    expect(find(2, '192.0.2.1', '9.9.9.9, , 8.8.8.8')).toBe('8.8.8.8')
    expect(find(true, '192.0.2.1', '')).toBe('192.0.2.1')
  })

  it('the client of a request cannot be forged by the header that a client sends', () => {
    const forged = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 5 })
    fc.assert(
      fc.property(forged, fc.ipV4(), fc.integer({ min: 1, max: 4 }), (entries, client, proxies) => {
        // Each proxy except the last appends the address that it sees; the last proxy is the TCP peer.
        const hops = Array.from({ length: proxies - 1 }, (_, at) => `10.0.0.${at}`)
        const header = [...entries, client, ...hops].join(',')
        expect(find(proxies, '10.0.1.1', header)).toBe(client)
        expect(find(['10.0.0.0/8'], '10.0.1.1', header)).toBe(
          client.startsWith('10.') ? find(['10.0.0.0/8'], '10.0.1.1', header) : client,
        )
      }),
      { numRuns: 300, seed: 7 },
    )
  })
})
