import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import type { KvstoreConfig } from '../config/connections/index.ts'
import { FatalError, RetryableError, describeError } from '../errors/index.ts'
import { backoffDelayMs } from '../retry/index.ts'
import type { CounterState, KeyValueStore, StoreLogger, Unsubscribe } from './key-value-store.ts'
import { checkedTtl } from './memory-store.ts'
import { describeStoreState, stateOfError } from './store-state.ts'
import type { StoreState } from './store-state.ts'
import { createSubscriptions } from './subscriptions.ts'

/** Timeouts of the Redis store; tests shorten them. */
export interface RedisTiming {
  readonly connectTimeoutMs: number
  readonly commandTimeoutMs: number
  /** Interval in ms of pings on the subscriber connection. */
  readonly pingIntervalMs: number
  readonly reconnectMaxMs: number
}

const defaultTiming: RedisTiming = {
  connectTimeoutMs: 5_000,
  commandTimeoutMs: 2_000,
  pingIntervalMs: 30_000,
  reconnectMaxMs: 5_000,
}

export interface RedisStoreOptions {
  readonly address: KvstoreConfig
  /** Prefix of every key and channel, such as `pronghorn:wax:`. */
  readonly prefix: string
  readonly logger: StoreLogger
  readonly timing?: Partial<RedisTiming>
}

/** Time to live of the value that a probe writes. */
const PROBE_LIFE_MS = 60_000

/**
 * Opens a store on a Redis server. Resolves after the first connection attempt, even after a failed attempt. Reconnects
 * continue in the background without limit. While Redis is unavailable, calls fail at once instead of queueing. The
 * store uses only plain commands, so a Redis that lost its script cache or was flushed needs no special handling.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<KeyValueStore> {
  const { prefix, logger } = options
  const timing = { ...defaultTiming, ...options.timing }
  const client = connect(options.address, timing, logger, 'commands')
  await client.connect().catch(() => undefined)
  const live = createLiveConnection(
    () => connect(options.address, timing, logger, 'messages'),
    timing,
    logger,
  )

  const writes = createWriteWatch(logger)
  const write = <T>(task: () => Promise<T>): Promise<T> => attempt(() => writes.watch(task))
  return {
    kind: 'redis',
    get: (key) => attempt(() => client.get(prefix + key)),
    read: (key) => attempt(() => readWithLife(client, prefix + key)),
    set: (key, value, ttlMs) =>
      write(() => client.set(prefix + key, value, 'PX', checkedTtl(ttlMs))).then(ignore),
    increment: (key, ttlMs, by = 1) => write(() => increment(client, prefix + key, checkedTtl(ttlMs), by)),
    publish: (channel, message) => attempt(() => client.publish(prefix + channel, message)).then(ignore),
    subscribe: (channel, listener) => live.subscribe(prefix + channel, listener),
    probe: () =>
      writes
        .watch(() => client.set(`${prefix}probe`, '', 'PX', PROBE_LIFE_MS))
        .then(() => 'up', stateOfError),
    close: async () => {
      live.close()
      await client.quit().catch(() => undefined)
      client.disconnect()
    },
  }
}

function ignore(): void {
  return undefined
}

/** Logs once when a reachable Redis starts to refuse writes, and once when it accepts writes again. */
function createWriteWatch(logger: StoreLogger) {
  let state: StoreState = 'up'
  const note = (now: StoreState): void => {
    // Ignore `unavailable`: the handlers of the Redis connection log connection errors.
    if (now === state || now === 'unavailable') return
    state = now
    const sentence = describeStoreState(now)
    if (sentence === null) logger.info({}, 'the key-value store accepts writes again')
    else logger.warn({ state }, sentence)
  }
  return {
    async watch<T>(task: () => Promise<T>): Promise<T> {
      try {
        const value = await task()
        note('up')
        return value
      } catch (error) {
        note(stateOfError(error))
        throw error
      }
    },
  }
}

async function attempt<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (cause) {
    if (cause instanceof RangeError) throw cause
    throw new RetryableError('KVSTORE_UNAVAILABLE', 'the key-value store did not answer', { cause })
  }
}

async function readWithLife(
  client: Redis,
  key: string,
): Promise<{ value: string; expiresInMs: number } | null> {
  const replies = await client.pipeline().get(key).pttl(key).exec()
  const failed = replies?.find(([error]) => error)?.[0]
  if (!replies || failed)
    throw failed ?? new Error('the key-value store returned no replies to the pipelined commands')
  const value = replies[0]?.[1]
  const expiresInMs = Number(replies[1]?.[1])
  // The key may have expired between GET and PTTL.
  return typeof value === 'string' && expiresInMs > 0 ? { value, expiresInMs } : null
}

async function increment(client: Redis, key: string, ttlMs: number, by: number): Promise<CounterState> {
  const replies = await client.pipeline().incrby(key, by).pttl(key).exec()
  const failed = replies?.find(([error]) => error)?.[0]
  if (!replies || failed)
    throw failed ?? new Error('the key-value store returned no replies to the pipelined commands')
  const count = Number(replies[0]?.[1])
  const lifeMs = Number(replies[1]?.[1])
  if (lifeMs >= 0) return { count, expiresInMs: Math.max(1, lifeMs) }
  // The counter has no expiry: the increment created the counter, or a process crashed between the increment and
  // `pexpire`.
  await client.pexpire(key, ttlMs)
  return { count, expiresInMs: ttlMs }
}

function connect(address: KvstoreConfig, timing: RedisTiming, logger: StoreLogger, purpose: string): Redis {
  const client = new Redis(redisOptions(address, timing))
  let isUnavailable = false
  // Log once that the connection was lost, not with each reconnect attempt.
  const reportLoss = (cause: string) => {
    if (isUnavailable) return
    isUnavailable = true
    logger.warn({ purpose, cause }, 'the key-value store is unavailable')
  }
  // An 'error' event without a listener would end the process. A regular shutdown of the server causes no 'error'
  // event, so the listener of 'reconnecting' logs the shutdown.
  client.on('error', (error: unknown) => reportLoss(describeError(error)))
  client.on('reconnecting', () => reportLoss('the server closed the connection'))
  client.on('ready', () => {
    if (isUnavailable) logger.info({ purpose }, 'the key-value store is available again')
    isUnavailable = false
  })
  return client
}

/**
 * Reads the certificate and the password file, and converts the configuration to `ioredis` options.
 * @throws FatalError `CONFIG_INVALID` if a file cannot be read.
 */
function redisAddress(address: KvstoreConfig): RedisOptions {
  const { host, port, username, password, password_file: file, database, tls } = address
  const { ca_file: ca, rejectUnauthorized = true } = typeof tls === 'object' ? tls : {}
  return {
    host,
    port,
    ...(database === undefined ? {} : { db: database }),
    ...(username === undefined ? {} : { username }),
    ...(file !== undefined
      ? { password: readSetting('password_file', file).trim() }
      : password === undefined
        ? {}
        : { password }),
    ...(tls === false
      ? {}
      : { tls: { rejectUnauthorized, ...(ca === undefined ? {} : { ca: readSetting('tls.ca_file', ca) }) } }),
  }
}

function readSetting(key: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new FatalError('CONFIG_INVALID', `kvstore.${key}: ${file} cannot be read (${code})`, { cause })
  }
}

function redisOptions(address: KvstoreConfig, timing: RedisTiming): RedisOptions {
  return {
    ...redisAddress(address),
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: timing.connectTimeoutMs,
    commandTimeout: timing.commandTimeoutMs,
    // Reconnect if the server accepted a command but stays silent.
    socketTimeout: 2 * timing.commandTimeoutMs,
    keepAlive: 30_000,
    retryStrategy: (times) =>
      backoffDelayMs({ firstMs: 200, longestMs: timing.reconnectMaxMs, jitter: 0.25 }, times - 1),
  }
}

interface LiveConnection {
  readonly subscribe: (channel: string, listener: (message: string) => void) => Promise<Unsubscribe>
  readonly close: () => void
}

/**
 * Creates the subscriber connection. Subscriptions need a separate connection, because a Redis connection in subscriber
 * mode accepts no other commands. The first subscription opens the connection.
 */
function createLiveConnection(open: () => Redis, timing: RedisTiming, logger: StoreLogger): LiveConnection {
  const subscriptions = createSubscriptions(logger)
  let client: Redis | undefined
  let pulse: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Redis {
    const opened = open()
    opened.on('message', subscriptions.deliver)
    opened.on('ready', () => {
      const channels = subscriptions.channels()
      if (channels.length > 0) void opened.subscribe(...channels).catch(() => opened.disconnect(true))
    })
    // A Redis that refuses writes also refuses pings (MISCONF) but still delivers messages, so the connection stays
    // open.
    const reconnectIfSilent = (error: unknown): void => {
      if (stateOfError(error) === 'unavailable') opened.disconnect(true)
    }
    pulse = setInterval(
      () => void (opened.status === 'ready' && opened.ping().catch(reconnectIfSilent)),
      timing.pingIntervalMs,
    )
    pulse.unref()
    return opened
  }

  async function subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe> {
    if (isClosed) throw new RetryableError('KVSTORE_UNAVAILABLE', 'the key-value store is closed')
    const { isNew, remove } = subscriptions.add(channel, listener, async () => {
      await client?.unsubscribe(channel).catch(() => undefined)
    })
    if (!client) {
      client = start()
      // ioredis sends the subscription whenever the connection becomes ready, so a failed first attempt to connect
      // needs no handling.
      await client.connect().catch(() => undefined)
    }
    if (isNew && client.status === 'ready')
      await client.subscribe(channel).catch(() => client?.disconnect(true))
    return remove
  }

  function close() {
    isClosed = true
    clearInterval(pulse)
    subscriptions.clear()
    client?.disconnect()
  }

  return { subscribe, close }
}
