import type { StoreLogger, Unsubscribe } from './key-value-store.ts'

type Listener = (message: string) => void

/** Listeners by channel, used by both store implementations. */
export interface Subscriptions {
  readonly channels: () => string[]
  readonly deliver: (channel: string, message: string) => void
  /**
   * Adds a listener to a channel. `isNew`: the channel had no listener before. `remove` removes the listener, and calls
   * `onLast` if the channel has no listener left.
   */
  readonly add: (
    channel: string,
    listener: Listener,
    onLast: () => Promise<void>,
  ) => { readonly isNew: boolean; readonly remove: Unsubscribe }
  readonly clear: () => void
}

export function createSubscriptions(logger: StoreLogger): Subscriptions {
  const listeners = new Map<string, Set<Listener>>()

  function add(channel: string, listener: Listener, onLast: () => Promise<void>) {
    const known = listeners.get(channel)
    const members = known ?? new Set<Listener>()
    listeners.set(channel, members)
    // Wrap the listener in a new function, because the same function may be subscribed twice.
    const own: Listener = (message) => listener(message)
    members.add(own)
    const remove = async () => {
      if (!members.delete(own) || members.size > 0 || listeners.get(channel) !== members) return
      listeners.delete(channel)
      await onLast()
    }
    return { isNew: !known, remove }
  }

  function deliver(channel: string, message: string) {
    for (const listener of [...(listeners.get(channel) ?? [])]) {
      try {
        listener(message)
      } catch (error) {
        logger.warn({ err: error, channel }, 'a subscriber of a key-value store channel failed on a message')
      }
    }
  }

  return { channels: () => [...listeners.keys()], deliver, add, clear: () => listeners.clear() }
}
