/** Starts a benchmark's server as a separate process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { readEnvironment } from '../../services/core/config/environment/index.ts'

/** A process that serves HTTP at `url`. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  stop(): void
}

/**
 * Starts a program that prints one line of JSON with its `url` once it listens, and that stops at SIGTERM.
 * @param environment additional environment variables.
 * @throws Error if the program exits before it listens.
 */
export async function startServerProcess(
  file: string,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const server = spawn(process.execPath, [file, ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...readEnvironment(), ...environment },
  })
  const exited = once(server, 'exit').then(() => null)
  const line = await Promise.race([once(createInterface(server.stdout), 'line'), exited])
  if (line === null) throw new Error(`${file} exited before it listened`)
  const { url } = JSON.parse(line[0] as string) as { url: string }
  return { url, pid: server.pid ?? 0, stop: () => void server.kill() }
}

/**
 * Parses environment variables of the command line, each `NAME=VALUE`.
 * @throws Error for any other text.
 */
export function environmentOf(texts: readonly string[]): Record<string, string> {
  const pairs = texts.map((text): [string, string] => {
    const at = text.indexOf('=')
    if (at < 1) throw new Error(`--env needs NAME=VALUE, not ${text}`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}
