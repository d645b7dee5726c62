import type { Environment } from '../../core/config/environment/index.ts'
import { parseEnvFile } from './env-file.ts'
import { hostPaths } from './host-paths.ts'
import type { OperatorPlaces } from './host-paths.ts'
import { checkRender } from './render.ts'
import type { RenderReport } from './render.ts'

/** Compose file that adds the demo chain; Compose reads it unless other files are named. */
const OVERRIDE = 'docker-compose.override.yml'

/** The settings of an appliance on its host: environment variables and `.env`, before Compose has read them. */
export interface Host {
  /** Paths of files and folders of the host, with the variables that contain the paths. */
  readonly paths: readonly { readonly variable: string; readonly path: string }[]
  /** Checks the settings, files and folders. @throws ConfigError with every problem. */
  check(places: OperatorPlaces): Promise<RenderReport>
}

/** Parses the input that `scripts/check` sends: the output of `env -0`, an empty entry, the text of `.env`. */
export function readHost(input: string): Host {
  const [entries, text] = splitOnce(input, '\0\0')
  const shell: Environment = Object.fromEntries(
    entries
      .split('\0')
      .filter((entry) => entry.includes('='))
      .map((entry) => splitOnce(entry, '=')),
  )
  const { values } = parseEnvFile(text, shell)
  const composeFile = shell.COMPOSE_FILE ?? values.COMPOSE_FILE ?? ''
  const isDemo = composeFile === '' || composeFile.includes(OVERRIDE)
  const environment = isDemo ? { ...shell, DEMO_CHAIN: 'true' } : shell
  const envFile = text === '' ? undefined : { text }
  return {
    paths: hostPaths({ ...values, ...shell }),
    check: (places) => checkRender(environment, { ...places, out: '', envFile }),
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
