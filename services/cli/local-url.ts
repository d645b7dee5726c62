import { isIPv6 } from 'node:net'

/** URL of a process on this machine that listens on the given address; wildcard addresses become 127.0.0.1. */
export function localUrl(address: string, port: number, path: string): string {
  const host = ['0.0.0.0', '::'].includes(address) ? '127.0.0.1' : isIPv6(address) ? `[${address}]` : address
  return `http://${host}:${port}${path}`
}
