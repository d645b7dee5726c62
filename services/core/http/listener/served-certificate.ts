import { connect } from 'node:tls'

/** The certificate that a server shows to its clients. */
export interface ServedCertificate {
  /** Time from which the certificate is valid, in epoch milliseconds. */
  readonly beginsMs: number
  /** Time until which the certificate is valid, in epoch milliseconds. */
  readonly endsMs: number
  /** SHA-256 of the certificate, hexadecimal with colons. */
  readonly fingerprint: string
}

const TIMEOUT_MS = 5_000

/**
 * Reads the certificate of a TLS server without validating it.
 * @throws Error if the server cannot be reached or sends no certificate.
 */
export function readServedCertificate(
  host: string,
  port: number,
  serverName: string,
): Promise<ServedCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host, port, servername: serverName, rejectUnauthorized: false, timeout: TIMEOUT_MS },
      () => {
        const { valid_from: begin, valid_to: end, fingerprint256: fingerprint } = socket.getPeerCertificate()
        socket.destroy()
        resolve({ beginsMs: Date.parse(begin), endsMs: Date.parse(end), fingerprint })
      },
    )
    socket.once('error', reject)
    socket.once('timeout', () => socket.destroy(new Error(`no answer from ${host}:${port} in time`)))
  })
}
