import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { configFiles, findJsonFault } from '../../core/config/index.ts'
import type { ConfigPart, ConfigProblem } from '../../core/config/index.ts'
import { fillJson } from './template.ts'
import type { Lookup } from './template.ts'

/** JSON files of the operator that replace rendered files. */
export interface OwnFiles {
  readonly texts: ReadonlyMap<ConfigPart, string>
  /** Variables that the operator's JSON files use as `${NAME}`. */
  readonly used: ReadonlySet<string>
  readonly problems: readonly ConfigProblem[]
}

export const noOwnFiles: OwnFiles = { texts: new Map(), used: new Set(), problems: [] }

const MAX_FILE_BYTES = 4 * 2 ** 20
const parts = Object.keys(configFiles) as ConfigPart[]

/** Reads the JSON files of the folder `CONFIG_FILES`. @param shown path of the folder on the host. */
export function readOwnFiles(folder: string, shown: string): OwnFiles {
  const problems: ConfigProblem[] = []
  const texts = new Map<ConfigPart, string>()
  const names = Object.values(configFiles)
  const refuse = (path: string, found: string, allowed: string): void => {
    problems.push({ file: 'environment', path, found, allowed })
  }
  try {
    const present = readdirSync(folder).filter((name) => name.endsWith('.json'))
    for (const name of present.filter((each) => !names.includes(each))) {
      problems.push({
        file: name,
        path: '',
        found: `a file of CONFIG_FILES that nothing reads`,
        allowed: `the names ${names.join(', ')}`,
      })
    }
    for (const part of parts) {
      const name = configFiles[part]
      if (!present.includes(name)) continue
      const { size } = statSync(join(folder, name))
      if (size > MAX_FILE_BYTES)
        refuse('CONFIG_FILES', `${name} of ${size} bytes`, `at most ${MAX_FILE_BYTES} bytes`)
      else {
        const text = readFileSync(join(folder, name), 'utf8')
        if (text.includes('\ufffd'))
          problems.push({ file: name, path: '', found: 'bytes that are no UTF-8', allowed: 'text in UTF-8' })
        texts.set(part, text)
      }
    }
    if (present.length === 0)
      refuse(
        'CONFIG_FILES',
        `${JSON.stringify(shown)} (the folder has no JSON file)`,
        `a folder with ${names.join(', ')}, or some of them`,
      )
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    refuse(
      'CONFIG_FILES',
      `${JSON.stringify(shown)} (the folder cannot be read: ${code})`,
      'a folder that the user with the number 1000 may read',
    )
  }
  const used = new Set([...texts.values()].flatMap((text) => fillJson(text, () => undefined).missing))
  return { texts, used, problems }
}

/** Parses a JSON file of the operator, with its `${NAME}` replaced. Errors of the text are added to `problems`. */
export function parseOwnFile(
  part: ConfigPart,
  text: string,
  lookup: Lookup,
  problems: ConfigProblem[],
): unknown {
  const file = configFiles[part]
  const { text: filled, missing } = fillJson(text, lookup)
  for (const variable of new Set(missing)) {
    problems.push({
      file,
      path: `\${${variable}}`,
      found: 'a variable that is not set',
      allowed: `a line ${variable}=… in .env`,
    })
  }
  if (missing.length > 0) return undefined
  const fault = findJsonFault(filled.replace(/^\ufeff/, ''))
  if (fault === null) return JSON.parse(filled.replace(/^\ufeff/, '')) as unknown
  problems.push({
    file,
    path: '',
    found: `malformed JSON at line ${fault.line}, column ${fault.column}`,
    allowed: `${fault.expected} there`,
  })
  return undefined
}
