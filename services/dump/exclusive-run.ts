import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

/** Time to wait until the sessions of a killed run have ended. */
const HANDOVER_MS = 10_000
const HANDOVER_POLL_MS = 200

/** Makes PostgreSQL cancel the statements of a killed client. Not every operating system supports this check. */
export async function noticeKills(client: pg.ClientBase): Promise<void> {
  await client.query("SET client_connection_check_interval = '5s'").catch(() => undefined)
}

/**
 * Takes an advisory lock that excludes other runs with the database.
 *
 * @param lock SQL call of the function that takes the lock if it is free.
 * @returns whether the lock was taken.
 */
export async function excludeOthers(client: pg.ClientBase, lock: string): Promise<boolean> {
  const deadline = performance.now() + HANDOVER_MS
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(`SELECT ${lock} AS locked`)
    if (rows[0]!.locked) return true
    if (performance.now() > deadline) return false
    await delay(HANDOVER_POLL_MS)
  }
}
