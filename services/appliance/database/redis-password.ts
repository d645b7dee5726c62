export interface RedisAddress {
  readonly host: string
  readonly port: number
}

const TIMEOUT_MS = 5_000

/**
 * Makes Redis accept a second password, so that services can change to it one after the other. @returns false if Redis
 * cannot be reached with the present password. In this case Redis reads the new password at its next start.
 */
export function addRedisPassword(address: RedisAddress, present: string, added: string): Promise<boolean> {
  return command(address, present, ['ACL', 'SETUSER', 'default', `>${added}`])
}

/**
 * Makes Redis refuse every password except this one, which Redis already accepts. @returns false if Redis cannot be
 * reached with this password.
 */
export function settleRedisPassword(address: RedisAddress, password: string): Promise<boolean> {
  return command(address, password, ['CONFIG', 'SET', 'requirepass', password])
}

async function command(
  { host, port }: RedisAddress,
  password: string,
  [name, ...words]: readonly [string, ...string[]],
): Promise<boolean> {
  // Loaded on use: most commands of the appliance do not need the Redis client.
  const { Redis } = await import('ioredis')
  const client = new Redis({
    ...{ host, port, password, lazyConnect: true, maxRetriesPerRequest: 0 },
    ...{ connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, retryStrategy: () => null },
  })
  // Without a listener, an `error` event would end this process. The calls below fail with the same error.
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
