import { Redis } from 'ioredis'

/** Address of Redis. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
}

const TIMEOUT_MS = 5_000

/**
 * Lets Redis take another password as well, so that services can change to it one after the other.
 * @returns false when Redis cannot be reached with the present one: it reads the new one when it starts.
 */
export function addRedisPassword(address: RedisAddress, present: string, added: string): Promise<boolean> {
  return command(address, present, ['ACL', 'SETUSER', 'default', `>${added}`])
}

/** Makes a password that Redis accepts the only one. @returns false when Redis cannot be reached with it. */
export function settleRedisPassword(address: RedisAddress, password: string): Promise<boolean> {
  return command(address, password, ['CONFIG', 'SET', 'requirepass', password])
}

async function command(
  { host, port }: RedisAddress,
  password: string,
  [name, ...words]: readonly [string, ...string[]],
): Promise<boolean> {
  const client = new Redis({
    ...{ host, port, password, lazyConnect: true, maxRetriesPerRequest: 0 },
    ...{ connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, retryStrategy: () => null },
  })
  // The error is ignored: the command that fails next reports it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.call(name, ...words)
    return true
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}
