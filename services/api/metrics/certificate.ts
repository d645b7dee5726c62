import { readServedCertificate } from '../../core/http/listener/index.ts'
import type { Metrics } from '../../core/metrics/index.ts'

const LOOK_MS = 60_000
const DAY_MS = 86_400_000

/**
 * Once a minute reads the certificate that a TLS proxy serves, and publishes the days until it expires.
 * @param proxy host and port, such as `nginx:8443`.
 * @returns a function that stops the checks.
 */
export function watchCertificate(metrics: Metrics, proxy: string, serverName: string): () => Promise<void> {
  const { host, port } = splitAddress(proxy)
  const look = async (): Promise<void> => {
    const days = await readServedCertificate(host, port, serverName).then(
      ({ endsMs }) => (endsMs - Date.now()) / DAY_MS,
      () => -1,
    )
    metrics.set('pronghorn_certificate_days', {}, days)
  }
  void look()
  const timer = setInterval(() => void look(), LOOK_MS)
  return () => {
    clearInterval(timer)
    return Promise.resolve()
  }
}

/** Splits `host:port` or `[address]:port`. The configuration schema has checked the format. */
function splitAddress(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tls://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}
