import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, readlink, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { ConfigProblem } from '../../core/config/index.ts'

/** File names of a certificate chain and its private key. */
export const certificateFiles = { chain: 'fullchain.pem', key: 'privkey.pem' } as const

const DAY_MS = 86_400_000
const MONTH_MS = 30 * DAY_MS
const SELFSIGNED_DAYS = 397

/**
 * Creates a self-signed certificate for a host name, unless the directory has a certificate for this name that is
 * valid for longer than `leastMs`. @returns whether a certificate was created.
 */
export async function ensureSelfSigned(dir: string, domain: string, leastMs = MONTH_MS): Promise<boolean> {
  const existing = await readFile(join(dir, certificateFiles.chain), 'utf8').catch(() => '')
  if (timeLeft(existing, domain).leftMs > leastMs) return false
  const { generate } = await import('selfsigned')
  const created = await generate([{ name: 'commonName', value: domain }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + SELFSIGNED_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          isIP(domain) ? { type: 7, ip: domain } : { type: 2, value: domain },
          ...(domain === 'localhost'
            ? [{ type: 7 as const, ip: '127.0.0.1' }]
            : [{ type: 2 as const, value: 'localhost' }]),
        ],
      },
    ],
  })
  await installCertificate(dir, created.cert, created.private)
  return true
}

/** Replaces the files of a certificate: first the key, then the chain. In between, key and chain do not match. */
export async function installCertificate(dir: string, chain: string, key: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  for (const [name, text] of [
    [certificateFiles.key, key],
    [certificateFiles.chain, chain],
  ] as const) {
    await writeFile(join(dir, `${name}.new`), text, { mode: 0o444 })
  }
  await rename(join(dir, `${certificateFiles.key}.new`), join(dir, certificateFiles.key))
  await rename(join(dir, `${certificateFiles.chain}.new`), join(dir, certificateFiles.chain))
}

/**
 * Remaining and total lifetime of the first certificate of a chain, which is the server's own; zero if the
 * certificate is unreadable or for another name.
 */
export function timeLeft(
  pem: string,
  domain: string,
): { readonly leftMs: number; readonly lifetimeMs: number } {
  try {
    const certificate = new X509Certificate(pem)
    const name = isIP(domain) ? certificate.checkIP(domain) : certificate.checkHost(domain)
    if (name === undefined) return { leftMs: 0, lifetimeMs: 0 }
    const endMs = endOf(certificate)
    return { leftMs: endMs - Date.now(), lifetimeMs: endMs - Date.parse(certificate.validFrom) }
  } catch {
    return { leftMs: 0, lifetimeMs: 0 }
  }
}

/** End of a certificate's validity, epoch milliseconds. */
export function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}

/** Problems of the operator's own certificate, each under the variable that names its folder. */
export async function checkCertificateFiles(dir: string, shown: string): Promise<ConfigProblem[]> {
  const problem = (found: string, allowed: string): ConfigProblem => ({
    file: 'environment',
    path: 'TLS_DIR',
    found,
    allowed,
  })
  const texts: Partial<Record<keyof typeof certificateFiles, string>> = {}
  const problems: ConfigProblem[] = []
  for (const part of ['chain', 'key'] as const) {
    const name = certificateFiles[part]
    try {
      texts[part] = await readFile(join(dir, name), 'utf8')
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? 'unreadable'
      const target = await readlink(join(dir, name)).catch(() => null)
      if (target !== null && why === 'ENOENT') {
        const found = `the folder ${JSON.stringify(shown)}, whose file ${name} is a link to ${target}, which does not exist`
        problems.push(
          problem(
            found,
            'a folder with the file itself instead of a link, for example copied there by a deploy hook',
          ),
        )
        continue
      }
      problems.push(
        problem(
          `the folder ${JSON.stringify(shown)}, whose file ${name} cannot be read (${why})`,
          `a folder with a readable ${name}, because TLS_MODE is files`,
        ),
      )
    }
  }
  if (texts.chain === undefined || texts.key === undefined) return problems
  const fault = findPairFault(texts.chain, texts.key)
  if (fault === 'another key') {
    const found = `a ${certificateFiles.key} of another certificate`
    return [problem(found, `the key of ${certificateFiles.chain}`)]
  }
  if (fault === 'unreadable') {
    const allowed = `${certificateFiles.chain} and ${certificateFiles.key} in PEM form`
    return [problem('files that are not a certificate and its key', allowed)]
  }
  return fault === undefined
    ? []
    : [problem(`a certificate that expired on ${fault.endedOn}`, 'a valid certificate')]
}

/** Whether the certificate in a folder is valid for the given host name or IP address. */
export async function isCertifiedName(dir: string, domain: string): Promise<boolean> {
  return timeLeft(await readFile(join(dir, certificateFiles.chain), 'utf8'), domain).lifetimeMs > 0
}

/** Reason why a server cannot use a certificate with a key; undefined if it can. */
export function findPairFault(
  chain: string,
  key: string,
): 'another key' | 'unreadable' | { readonly endedOn: string } | undefined {
  try {
    const certificate = new X509Certificate(chain)
    if (!certificate.checkPrivateKey(createPrivateKey(key))) return 'another key'
    return endOf(certificate) < Date.now() ? { endedOn: certificate.validTo } : undefined
  } catch {
    return 'unreadable'
  }
}

const PEM_CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----[^-]*-----END \1?CERTIFICATE-----/g

/** Whether a text has certificates in PEM form, each of them readable. */
export function hasCertificates(text: string): boolean {
  const begun = text.match(/-----BEGIN (?:TRUSTED )?CERTIFICATE-----/g) ?? []
  const found = text.match(PEM_CERTIFICATE) ?? []
  return found.length > 0 && found.length === begun.length && found.every(isCertificate)
}

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text)
    return true
  } catch {
    return false
  }
}

/** Whether a text is a private key that no password protects. */
export function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text)
    return true
  } catch {
    return false
  }
}
