import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readPackageVersion } from '../../core/paths/index.ts'
import type { ConfigProblem } from '../../core/config/index.ts'
import type { RenderedFile } from './libpq.ts'
import { namesOfProblem } from './resolve.ts'
import type { Values } from './resolved.ts'

/**
 * Variables that decide which servers run and where their data are. Compose applies new values of these variables from
 * `.env` at once. The earlier rendered files may therefore be used only while the values are unchanged.
 */
const dataVariables = [
  ...(['DATA_LOCATION', 'POSTGRES_BUNDLED', 'POSTGRES_HOST', 'POSTGRES_PORT', 'POSTGRES_DATABASE'] as const),
  ...(['POSTGRES_SUPERUSER', 'REDIS_BUNDLED'] as const),
]

/** The last file that `render` writes. It contains the version and the values of `dataVariables`. */
const note = { service: 'secrets', name: 'rendered.json' } as const

export function noteRendering(values: Values): RenderedFile {
  return { ...note, text: `${JSON.stringify(contentOf(values), null, 2)}\n`, mode: 0o440 }
}

/** Deletes `rendered.json` before other files are rewritten: a folder without this file counts as incomplete. */
export async function forgetRendering(out: string): Promise<void> {
  await rm(pathIn(out), { force: true })
}

const pathIn = (out: string): string => join(out, note.service, note.name)

function contentOf(values: Values): Record<string, string> {
  const facts = dataVariables.map((name) => [name, String(values[name])])
  return { version: readPackageVersion(), ...(Object.fromEntries(facts) as Record<string, string>) }
}

/**
 * Reason why the previously rendered files cannot stay in use while the settings are refused; undefined if they can.
 * @param values settings in which every refused variable counts as unset.
 */
export async function whyNotFormer(
  out: string,
  values: Values,
  problems: readonly ConfigProblem[],
): Promise<string | undefined> {
  const text = await readFile(pathIn(out), 'utf8').catch(() => '{}')
  const former = JSON.parse(text) as Partial<Record<string, string>>
  const present = contentOf(values)
  if (former.version !== present.version) {
    return `the folder has no complete configuration that version ${readPackageVersion()} rendered, so no former configuration can stay in use`
  }
  const refused = new Set(problems.flatMap(namesOfProblem))
  const moved = dataVariables.filter((name) => refused.has(name) || former[name] !== present[name])
  if (moved.length === 0) return undefined
  return `the former configuration cannot stay in use, because Compose reads ${moved.join(', ')} by itself`
}
