import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '../../services/cli/program.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

const program = join(packageRoot, 'dist/services/cli/main.js')

/** Number of characters at the end of a process's output that are kept for failure messages. */
const OUTPUT_KEPT = 200_000

/** Exit code or signal of a process. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running `pronghorn filler`, or another command. */
export interface FillerProcess {
  readonly pid: number
  /** Last characters of the process's output. */
  readonly output: () => string
  /** Whether the process has exited. */
  readonly hasEnded: () => boolean
  readonly ended: Promise<ProcessEnd>
  /** Kills the process like a power cut (SIGKILL); false if it had already exited. */
  kill(): Promise<boolean>
  /** Asks the process to stop and waits for its exit. */
  stop(): Promise<ProcessEnd>
}

/** A directory of configuration files from which fillers are started. */
export interface FillerHome {
  /** Starts `pronghorn filler`, or another command. */
  start(command?: readonly string[]): FillerProcess
  /** Runs a command in this process until the command ends, which takes less processor time than a new process. */
  run(command: readonly string[]): Promise<{ readonly code: number; readonly output: string }>
  /** Kills the remaining processes and removes the configuration files. */
  remove(): Promise<void>
}

/** Writes the configuration of a filler that reads `chain` into `database`. */
export async function createFillerHome(
  { chain, shipUrl, httpUrl, hasRoots }: TestChain,
  database: DatabaseAddress,
  settings: Partial<ReaderSettings> = {},
): Promise<FillerHome> {
  const directory = await mkdtemp(join(tmpdir(), 'pronghorn-filler-'))
  const passwordFile = join(directory, 'password')
  await writeFile(passwordFile, database.password)
  const connections = {
    sqldb: { ...database, password: 'replaced since', password_file: passwordFile },
    chain: { name: 'test', chain_id: chain.chainId, http: httpUrl, ship: shipUrl },
  }
  const server = { server_addr: '127.0.0.1', server_port: await findFreePort() }
  await writeFile(join(directory, 'connections.config.json'), JSON.stringify(connections))
  await writeFile(
    join(directory, 'readers.config.json'),
    JSON.stringify([{ ...testSettings, ship_check_roots: hasRoots, ...server, ...settings }]),
  )
  const started: FillerProcess[] = []
  return {
    start(command = ['filler']) {
      const filler = startProcess(directory, command)
      started.push(filler)
      return filler
    },
    async run(command) {
      let output = ''
      const print = (text: string) => void (output += text)
      const env = { CONFIG_DIR: directory, LOG_LEVEL: 'silent' }
      const { signal } = new AbortController()
      return {
        code: await runCli(command, { env, isTerminal: false, out: print, err: print, signal }),
        output,
      }
    },
    async remove() {
      await Promise.all(started.map((filler) => filler.kill()))
      await rm(directory, { recursive: true })
    },
  }
}

function startProcess(directory: string, command: readonly string[]): FillerProcess {
  const child = spawn(process.execPath, [program, ...command], {
    env: { CONFIG_DIR: directory, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collectOutput(child)
  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid ?? 0,
    output,
    hasEnded,
    ended,
    async kill() {
      child.kill('SIGKILL')
      return (await ended).signal === 'SIGKILL'
    },
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

function collectOutput(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-OUTPUT_KEPT)
    })
  }
  return () => text
}
