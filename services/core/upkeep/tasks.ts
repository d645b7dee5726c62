import type pg from 'pg'

/** Tasks around the database; infra/postgres notes the backups. */
export type TaskName = 'backup' | 'backup-check' | 'backup-copy' | 'verify'

/** A task, and what became of its last attempts. */
export interface Task {
  readonly name: TaskName
  /** Time between two attempts; null without a schedule. */
  readonly intervalSeconds: number | null
  readonly succeededAt: Date | null
  /** Since when its attempts fail; null when the last one succeeded. */
  readonly failedAt: Date | null
  readonly failure: string | null
}

/** The tasks that were ever attempted. */
export async function readTasks(client: Pick<pg.ClientBase, 'query'>): Promise<Task[]> {
  const { rows } = await client.query<Task>(
    `SELECT task AS name, interval_seconds AS "intervalSeconds", succeeded_at AS "succeededAt", failed_at AS "failedAt",
      failure FROM chain.tasks ORDER BY task`,
  )
  return rows
}

/** Notes an attempt of a task. @param failure why it failed, or what it found; null when it succeeded. */
export async function noteTask(
  client: Pick<pg.ClientBase, 'query'>,
  name: TaskName,
  failure: string | null,
): Promise<void> {
  await client.query('SELECT chain.note_task($1, $2)', [name, failure])
}
