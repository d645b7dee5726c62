import type pg from 'pg'

/** Maintenance tasks of the database; infra/postgres records the backup tasks. */
export type TaskName = 'backup' | 'backup-check' | 'backup-copy' | 'verify'

/** A maintenance task (backup or verify) with the results of its last attempts. */
export interface Task {
  readonly name: TaskName
  /** Interval between two scheduled runs of the task; null without a schedule. */
  readonly intervalSeconds: number | null
  readonly succeededAt: Date | null
  /** Time of the first failure since the last success; null if the last attempt succeeded. */
  readonly failedAt: Date | null
  readonly failure: string | null
}

/** Reads all maintenance tasks that were ever attempted. */
export async function readTasks(client: Pick<pg.ClientBase, 'query'>): Promise<Task[]> {
  const { rows } = await client.query<Task>(
    `SELECT task AS name, interval_seconds AS "intervalSeconds", succeeded_at AS "succeededAt", failed_at AS "failedAt",
      failure FROM chain.tasks ORDER BY task`,
  )
  return rows
}

/**
 * Records an attempt of a task.
 * @param failure reason of the failure, or the problem that was found; null for success.
 */
export async function noteTask(
  client: Pick<pg.ClientBase, 'query'>,
  name: TaskName,
  failure: string | null,
): Promise<void> {
  await client.query('SELECT chain.note_task($1, $2)', [name, failure])
}
