import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createPort } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generate } from 'selfsigned'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AcmeSettings } from '../../services/appliance/tls/issue.ts'
import { keepCertificate } from '../../services/appliance/index.ts'
import { render } from '../../services/appliance/render/render.ts'
import { installCertificate } from '../../services/appliance/tls/certificate.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

const ACME_DOMAIN = 'nft.example.org'
const DAY_MS = 86_400_000
const environment = {
  CHAIN: 'wax-mainnet',
  CHAIN_HTTP: 'http://node.test:8888',
  CHAIN_SHIP: 'ws://node.test:8080',
  DOMAIN: ACME_DOMAIN,
  // ACME_DIRECTORY names an operator's own ACME authority, which may issue certificates for reserved domain names.
  ACME_DIRECTORY: 'https://authority.test/directory',
  TLS_MODE: 'acme',
  ACME_EMAIL: 'somebody@example.org',
  COMPOSE_PROFILES: 'acme',
}

/** Creates a self-signed certificate for the domain with the given lifetime and remaining days. */
async function certificateOf(lifetimeDays: number, leftDays: number): Promise<{ cert: string; key: string }> {
  const notAfterDate = new Date(Date.now() + leftDays * DAY_MS)
  const { cert, private: key } = await generate([{ name: 'commonName', value: ACME_DOMAIN }], {
    ...{ keyType: 'ec', curve: 'P-256', notAfterDate },
    notBeforeDate: new Date(notAfterDate.getTime() - lifetimeDays * DAY_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: ACME_DOMAIN }] }],
  })
  return { cert, key }
}

describe('an ACME authority', () => {
  let dir: string
  let stop: AbortController
  let asked: string[]
  let authority: Server
  let settings: AcmeSettings
  let lines: string[]

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pronghorn-authority-'))
    stop = new AbortController()
    asked = []
    lines = []
    // The ACME authority accepts requests and never answers.
    authority = createServer(({ url = '' }) => asked.push(url)).listen(0, '127.0.0.1')
    await once(authority, 'listening')
    settings = {
      directory: `http://127.0.0.1:${(authority.address() as AddressInfo).port}/directory`,
      ...{ email: environment.ACME_EMAIL, domain: ACME_DOMAIN },
      certificates: join(dir, 'certificates'),
      challenges: join(dir, 'challenges'),
      account: join(dir, 'acme'),
    }
    await mkdir(settings.account)
  })
  afterEach(async () => {
    stop.abort()
    authority.closeAllConnections()
    authority.close()
    await rm(dir, { recursive: true })
  })

  /** Installs a certificate as if the ACME authority had issued it. */
  async function install(lifetimeDays: number, leftDays: number, issued: (chain: string) => string) {
    const { cert, key } = await certificateOf(lifetimeDays, leftDays)
    await installCertificate(settings.certificates, cert, key)
    await writeFile(join(settings.account, 'issued-by-acme'), issued(cert))
  }

  function keep(): Promise<void> {
    const write = (line: string): unknown => lines.push(line)
    const logger = createLogger({ name: 'test', level: 'info', destination: { write } })
    return keepCertificate(settings, logger, stop.signal)
  }

  const isAsked = async (): Promise<boolean> => {
    const kept = keep()
    for (let tries = 0; tries < 20 && asked.length === 0; tries++) await sleep(25)
    stop.abort()
    await kept
    return asked.length > 0
  }

  it.each([
    [90, 31, false],
    [90, 29, true],
    [6, 3, false],
    [6, 1.5, true],
  ])(
    'a certificate is renewed once less than a third of its lifetime remains: lifetime %d days, remaining %d days',
    async (lifetime, left, expected) => {
      await install(lifetime, left, (chain) => chain)
      expect(await isAsked()).toBe(expected)
    },
  )

  it.each([
    ['the same', '', false],
    ['another', '-staging', true],
  ])(
    'a valid certificate is replaced only if another ACME authority issued the certificate: %s authority',
    async (_what, suffix, expected) => {
      await install(90, 80, (chain) => `${settings.directory}${suffix}\n${chain}`)
      expect(await isAsked()).toBe(expected)
    },
  )

  it('a request to an ACME authority that does not answer ends at once on a stop signal', async () => {
    const kept = keep()
    while (asked.length === 0) await sleep(10)
    stop.abort()
    await kept
    expect(lines).toEqual([])
  })

  it('a request to an ACME authority that falls silent during an order ends at once on a stop signal', async () => {
    authority.on('request', ({ url }, response) => {
      const [newNonce, newAccount] = ['/nonce', '/account'].map((path) => new URL(path, settings.directory))
      if (url === '/directory') response.end(JSON.stringify({ newNonce, newAccount }))
    })
    const kept = keep()
    while (!asked.includes('/nonce')) await sleep(10)
    stop.abort()
    await kept
    expect(lines).toEqual([])
  })

  it('an unreachable ACME authority is reported at once, with the reason', async () => {
    authority.close()
    const kept = keep()
    while (lines.length === 0) await sleep(10)
    stop.abort()
    await kept
    expect(lines.join('')).toContain(`no certificate: ${settings.directory} cannot be reached`)
    expect(lines.join('')).toContain('ECONNREFUSED')
  })

  it.each([
    ['acme', 10, false],
    ['acme', -1, true],
    ['selfsigned', 10, true],
    ['selfsigned', 31, false],
  ])(
    'with TLS_MODE=%s and a certificate that expires in %d days, rendering replaces the certificate: %s',
    async (mode, days, expected) => {
      await install(90, days, (chain) => chain)
      const { certificateCreated } = await render(
        { ...environment, TLS_MODE: mode, COMPOSE_PROFILES: mode === 'acme' ? 'acme' : '' },
        { out: dir, certificateFiles: dir },
      )
      expect(certificateCreated).toBe(expected)
    },
  )
})

function whyNoPebble(): string | undefined {
  const found = (program: string): boolean => findProgram(program) !== undefined
  return found('pebble') && found('pebble-challtestsrv')
    ? undefined
    : 'there is no pebble (an ACME server) on the PATH'
}

describeUnless(whyNoPebble(), 'certificates from an ACME authority', () => {
  let dir: string
  let out: string
  let directory: string
  const children: ChildProcess[] = []
  const challenges = createServer((request, response) => {
    const token = request.url?.split('/').at(-1) ?? ''
    readFile(join(out, 'challenges/.well-known/acme-challenge', token)).then(
      (text) => response.end(text),
      () => response.writeHead(404).end(),
    )
  })

  const keepCertificate = (): ChildProcess => {
    const main = join(packageRoot, 'dist/services/cli/main.js')
    const child = spawn(process.execPath, [main, 'certificates', '--rendered', out], {
      env: {
        ...process.env,
        ...environment,
        ACME_DIRECTORY: directory,
        NODE_EXTRA_CA_CERTS: join(dir, 'server/certificates/fullchain.pem'),
      },
      stdio: 'inherit',
    })
    children.push(child)
    return child
  }

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pronghorn-acme-'))
    out = join(dir, 'rendered')
    const places = { out, certificateFiles: dir }
    await render(environment, places)
    // The ACME authority of the test serves its directory over TLS, so it needs its own certificate.
    await render({ DEMO_CHAIN: 'true' }, { out: join(dir, 'server'), certificateFiles: dir })
    challenges.listen(0, '127.0.0.1')
    await once(challenges, 'listening')
    const ports = {
      acme: await findFreePort(),
      management: await findFreePort(),
      dns: await findFreePort(),
      dnsManagement: await findFreePort(),
    }
    const { port } = challenges.address() as AddressInfo
    const pebble = {
      listenAddress: `127.0.0.1:${ports.acme}`,
      managementListenAddress: `127.0.0.1:${ports.management}`,
      certificate: join(dir, 'server/certificates/fullchain.pem'),
      privateKey: join(dir, 'server/certificates/privkey.pem'),
      httpPort: port,
      tlsPort: 1,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
    }
    await writeFile(join(dir, 'pebble.json'), JSON.stringify({ pebble }))
    const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', '']
    const names = [
      '-defaultIPv4',
      '127.0.0.1',
      '-dns01',
      `127.0.0.1:${ports.dns}`,
      '-management',
      `127.0.0.1:${ports.dnsManagement}`,
    ]
    children.push(spawn('pebble-challtestsrv', [...off, ...names], { stdio: 'ignore' }))
    children.push(
      spawn('pebble', ['-config', join(dir, 'pebble.json'), '-dnsserver', `127.0.0.1:${ports.dns}`], {
        env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '20' },
        stdio: 'ignore',
      }),
    )
    directory = `https://localhost:${ports.acme}/dir`
    for (let tries = 0; tries < 100; tries++) {
      const probe = createPort()
      const taken = await new Promise<boolean>((resolve) => {
        probe.once('error', () => resolve(true))
        probe.listen(ports.acme, '127.0.0.1', () => probe.close(() => resolve(false)))
      })
      if (taken) break
      await sleep(100)
    }
  })

  afterAll(async () => {
    for (const child of children) child.kill()
    challenges.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('a certificate from an ACME authority replaces the self-signed one, leaves no challenge behind, and is reused while it is valid', async () => {
    const path = join(out, 'certificates/fullchain.pem')
    const own = new X509Certificate(await readFile(path))
    await copyFile(path, join(dir, 'own.pem'))
    const first = keepCertificate()
    let issued = own
    for (let tries = 0; tries < 300 && issued.fingerprint256 === own.fingerprint256; tries++) {
      await sleep(200)
      issued = new X509Certificate(await readFile(path))
    }
    expect(issued.issuer).toMatch(/Pebble/)
    expect(issued.checkHost(ACME_DOMAIN)).toBe(ACME_DOMAIN)
    await sleep(300)
    expect(await readdir(join(out, 'challenges/.well-known/acme-challenge'))).toEqual([])
    first.kill('SIGTERM')
    expect((await once(first, 'exit'))[0]).toBe(0)

    // A second rendering, and a second check of the certificate's age, keep the certificate.
    await mkdir(out, { recursive: true })
    await render(environment, { out, certificateFiles: dir })
    const second = keepCertificate()
    await sleep(2_000)
    second.kill('SIGTERM')
    await once(second, 'exit')
    expect(new X509Certificate(await readFile(path)).fingerprint256).toBe(issued.fingerprint256)
  })
})
