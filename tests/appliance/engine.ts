import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../services/core/paths/index.ts'

const execute = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const LONGEST_MS = 1_200_000

/** Reason why this machine cannot run containers; undefined if it can. */
export function whyNoEngine(): string | undefined {
  try {
    for (const words of [['info'], ['compose', 'version']]) {
      execFileSync('docker', words, { timeout: 20_000, stdio: 'ignore' })
    }
    return undefined
  } catch {
    return 'no Docker engine with the Compose plugin answers'
  }
}

/** Reason why this machine has no Compose; undefined if it has one. */
export function whyNoCompose(): string | undefined {
  try {
    execFileSync('docker', ['compose', 'version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'there is no Docker client with the Compose plugin'
  }
}

/** Files of the repository that Compose reads if only `docker-compose.yml` is given. */
export const composeSources = ['docker-compose.yml', 'infra/bundled.yml']

/** Files that a plain `docker compose up` reads. */
export const composeFiles = ['docker-compose.yml', 'docker-compose.override.yml']

/** Creates the variables of a separate appliance with its own project name and ports, and creates its backup folder. */
export function applianceVariables(
  project: string,
  ports: { readonly http: number; readonly https: number },
) {
  const backups = `./.data/${project}-backups`
  mkdirSync(join(packageRoot, backups), { recursive: true })
  return {
    COMPOSE_PROJECT_NAME: project,
    HTTP_PORT: String(ports.http),
    HTTPS_PORT: String(ports.https),
    BACKUP_DIR: backups,
    FILLER_MEMORY: '1g',
    API_MEMORY: '1g',
    // Tests send more requests than the default rate limit allows.
    RATE_LIMIT_REQUESTS: '1000000',
  }
}

/** Runs a program in the project's folder, for at most ten minutes, and returns its output. */
export async function run(
  variables: Readonly<Record<string, string>>,
  program: string,
  ...words: string[]
): Promise<string> {
  const { stdout } = await execute(program, words, {
    cwd: packageRoot,
    env: { ...process.env, ...variables },
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: LONGEST_MS,
  })
  return stdout
}

/** Runs a program that must fail, and returns its output. */
export function runFailing(
  variables: Readonly<Record<string, string>>,
  program: string,
  ...words: string[]
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: packageRoot, env: { ...process.env, ...variables } }
    execFile(program, words, options, (error, stdout, stderr) => {
      if (error) resolve(`${stdout}${stderr}`)
      else reject(new Error(`${program} was to fail, and did not`))
    })
  })
}
