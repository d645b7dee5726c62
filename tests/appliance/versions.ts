import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './engine.ts'

/** SQL of a migration that rewrites a table, and of one that fails after its first statement. */
export const REWRITING_MIGRATION =
  'ALTER TABLE assets.assets ADD rehearsed text GENERATED ALWAYS AS (md5(owner)) STORED;'
export const FAILING_MIGRATION = 'CREATE TABLE chain.rehearsed (id integer); SELECT 1 / 0;'

const FIRST_NUMBER = 9000
let derived = 0

/** Builds an image from the image `base`, with an additional migration. */
export async function deriveImage(
  variables: Readonly<Record<string, string>>,
  base: string,
  name: string,
  sql: string,
): Promise<void> {
  const file = `${FIRST_NUMBER + derived++}_rehearsal.sql`
  const folder = await mkdtemp(join(tmpdir(), 'pronghorn-image-'))
  await writeFile(join(folder, file), sql)
  await writeFile(
    join(folder, 'Dockerfile'),
    `FROM ${base}\nCOPY ${file} /pronghorn/services/core/database/migrations/\n`,
  )
  await run(variables, 'docker', 'build', '--quiet', '--tag', name, folder)
  await rm(folder, { recursive: true })
}

/** Starts a chain node in a container. Returns its address in the network of the containers. */
export async function startNode(
  variables: Readonly<Record<string, string>>,
  node: { readonly name: string; readonly http: number; readonly ship: number },
  image: string,
): Promise<string> {
  const format = '{{(index .IPAM.Config 0).Gateway}}'
  const gateway = await run(variables, ...['docker', 'network', 'inspect', 'bridge', '--format', format])
  const host = gateway.trim() === '' ? '172.17.0.1' : gateway.trim()
  await run(
    variables,
    ...['docker', 'run', '--detach', '--name', node.name],
    ...['--publish', `${host}:${node.http}:8888`, '--publish', `${host}:${node.ship}:8080`, image],
    ...['devchain', '--host', '0.0.0.0', '--seed', '7', '--blocks', '200'],
  )
  return host
}
