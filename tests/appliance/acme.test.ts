import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createPort } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { render } from '../../services/appliance/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { describeUnless, findProgram } from '../setup/available.ts'
import { findFreePort } from '../../services/core/http/index.ts'

const domain = 'nft.example.org'
const environment = {
  CHAIN: 'wax-mainnet',
  CHAIN_HTTP: 'http://node.test:8888',
  CHAIN_SHIP: 'ws://node.test:8080',
  DOMAIN: domain,
  TLS_MODE: 'acme',
  ACME_EMAIL: 'somebody@example.org',
  COMPOSE_PROFILES: 'acme',
}

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
    // The authority's own door has a certificate too.
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

  it('a certificate from an ACME authority replaces the self-signed one, leaves no challenge behind, and is kept while it lasts', async () => {
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
    expect(issued.checkHost(domain)).toBe(domain)
    await sleep(300)
    expect(await readdir(join(out, 'challenges/.well-known/acme-challenge'))).toEqual([])
    first.kill('SIGTERM')
    expect((await once(first, 'exit'))[0]).toBe(0)

    // Rendering again, and looking again, changes nothing.
    await mkdir(out, { recursive: true })
    await render(environment, { out, certificateFiles: dir })
    const second = keepCertificate()
    await sleep(2_000)
    second.kill('SIGTERM')
    await once(second, 'exit')
    expect(new X509Certificate(await readFile(path)).fingerprint256).toBe(issued.fingerprint256)
  })
})
