import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnless } from '../setup/available.ts'
import { applianceVariables, run, whyNoEngine } from './engine.ts'

const PROJECT = 'pronghorn-ipv6'
const IMAGE = 'pronghorn-ipv6:rehearsal'
const LIMIT = 5
const variables = {
  ...applianceVariables(PROJECT, { http: 25_080, https: 25_443 }),
  COMPOSE_FILE: 'docker-compose.yml:docker-compose.override.yml:docker-compose.ipv6.yml',
  IPV6_SUBNET: 'fd70:726f:6e68::/48',
  PRONGHORN_IMAGE: IMAGE,
  RATE_LIMIT_REQUESTS: String(LIMIT),
  RATE_LIMIT_INTERVAL: '3600',
}
const outside = `${PROJECT}_outside`
/**
 * Two networks, each with an IPv6 client; the proxy is in both. The proxy counts all clients of a /56 as one, and
 * Docker cannot give containers of one network addresses in different /56 ranges.
 */
const networks = [
  { name: `${PROJECT}_one`, subnet: 'fd70:726f:6e69:100::/64' },
  { name: `${PROJECT}_two`, subnet: 'fd70:726f:6e69:200::/64' },
]
const LONGEST = 900_000
const compose = (...words: string[]): Promise<string> => run(variables, 'docker', 'compose', ...words)

describeUnless(whyNoEngine(), 'clients over IPv6 and IPv4', () => {
  beforeAll(async () => {
    await compose('--profile', '*', 'down', '--volumes')
    await run(variables, 'docker', 'build', '--quiet', '--tag', IMAGE, '.')
    await compose('up', '--detach', '--wait')
  }, LONGEST)

  afterAll(async () => {
    await compose('--profile', '*', 'down', '--volumes').finally(() =>
      run(variables, 'docker', 'network', 'rm', ...networks.map(({ name }) => name)),
    )
  }, LONGEST)

  it(
    'the rate limit counts each client separately, for two clients over IPv6 and two over IPv4',
    async () => {
      const id = (await compose('ps', '--quiet', 'nginx')).trim()
      for (const { name, subnet } of networks) {
        await run(variables, 'docker', 'network', 'create', '--ipv6', '--subnet', subnet, name)
        await run(variables, 'docker', 'network', 'connect', name, id)
      }
      const addressIn = async (network: string, field: string) => {
        const format = `{{with index .NetworkSettings.Networks "${network}"}}{{.${field}}}{{end}}`
        return (await run(variables, 'docker', 'inspect', '--format', format, id)).trim()
      }
      const v4 = await addressIn(outside, 'IPAddress')
      const v6 = await addressIn(outside, 'GlobalIPv6Address')
      expect(v6).toContain(':')
      // The clients run at the same time, so that Docker gives each its own address.
      const seen = await Promise.all([
        ...networks.map(async ({ name }) => ask(name, `[${await addressIn(name, 'GlobalIPv6Address')}]`)),
        ask(outside, v4),
        ask(outside, v4),
      ])
      const wanted = [...Array.from({ length: LIMIT }, () => 200), 429]
      expect(seen).toEqual([wanted, wanted, wanted, wanted])
    },
    LONGEST,
  )

  /** Sends LIMIT + 1 requests, one more than the rate limit allows, from a new container. Returns the status codes. */
  async function ask(network: string, host: string): Promise<number[]> {
    const script = `
      const states = []
      for (let i = 0; i <= ${LIMIT}; i++) {
        const answer = await fetch('https://${host}:8443/atomicassets/v1/config?turn=' + i)
        states.push(answer.status)
        await answer.arrayBuffer()
      }
      await new Promise((resolve) => setTimeout(resolve, 10_000))
      console.log(JSON.stringify(states))`
    const output = await run(
      variables,
      ...['docker', 'run', '--rm', '--network', network],
      ...['--env', 'NODE_TLS_REJECT_UNAUTHORIZED=0', '--entrypoint', 'node', IMAGE],
      ...['--no-warnings', '--input-type=module', '--eval', script],
    )
    return JSON.parse(output) as number[]
  }
})
