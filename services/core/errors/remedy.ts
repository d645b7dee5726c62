import { errorCatalogue } from './catalogue.ts'
import type { ErrorCode } from './catalogue.ts'
import type { ErrorEntry } from './entry.ts'
import type { RunMode } from './mode.ts'
import type { ErrorDetails } from './pronghorn-error.ts'

/** Maximum length of a detail in a remedy; a longer text is no value for a command line. */
const MAX_DETAIL_LENGTH = 300

const SERVER_LIMIT = '`max_connections` of the server'
/**
 * Values for the `{name}` placeholders in remedies, such as the name of a setting. If the error has a detail of the
 * same name, the detail is used instead.
 */
const settingNames: Readonly<Record<RunMode, ErrorDetails>> = {
  standalone: {
    limit: SERVER_LIMIT,
    http: '`--http`',
    nodes: '`--ship`, `--http`',
    help: 'npm start -- --help',
  },
  appliance: {
    limit: SERVER_LIMIT,
    http: 'CHAIN_HTTP in `.env`',
    nodes: 'CHAIN_SHIP, CHAIN_HTTP in `.env`',
    help: 'docker compose run --rm config --help',
  },
  process: {
    limit: SERVER_LIMIT,
    http: '`chain.http`',
    nodes: '`chain.ship`, `chain.http`',
    help: 'pronghorn --help',
  },
}

/** Remedy of an error in a run mode. A missing detail appears as its name in capitals. */
export function remedyOf(code: ErrorCode, mode: RunMode, details: ErrorDetails = {}): string {
  const { remedy }: ErrorEntry = errorCatalogue[code]
  const text = typeof remedy === 'string' ? remedy : remedy[mode]
  const values = { ...settingNames[mode], ...details }
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => detailText(values[name]) ?? name.toUpperCase())
}

function detailText(value: unknown): string | undefined {
  const isShown = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
  return isShown ? String(value).slice(0, MAX_DETAIL_LENGTH) : undefined
}
