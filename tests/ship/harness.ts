import { setTimeout as delay } from 'node:timers/promises'
import { createShipSession } from '../../services/filler/index.ts'
import type { ShipSession } from '../../services/filler/index.ts'
import type { ShipSessionOptions, ShipTiming } from '../../services/filler/ship/types.ts'
import { Collector } from './collector.ts'
import { ScriptedNode, testChainId } from './scripted-node.ts'
import type { NodeScript } from './scripted-node.ts'
import { plainCodec } from './wire.ts'

/** Short delays, so that tests are fast, and long deadlines, so that busy machines pass. */
const testTiming: Partial<ShipTiming> = {
  statusPollMs: 10,
  backoffMinMs: 5,
  backoffMaxMs: 20,
}

/** Waits until `holds` returns true; fails after 20 s with the text `what`. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let round = 0; !holds(); round++) {
    if (round > 4_000) throw new Error(`never happened: ${what}`)
    await delay(5)
  }
}

/** A log line of a session, for tests that expect one. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn'
  readonly message: string
  readonly details: object
}

/** A `ShipSession` under test, with its consumer and log. */
export interface Run {
  readonly collector: Collector
  readonly session: ShipSession
  readonly log: readonly LoggedLine[]
  /** Settles when `run` settles. A rejection becomes the resolved value, so that a test can check it later. */
  readonly done: Promise<unknown>
  /** Aborts the session and waits until it has ended. */
  stop(): Promise<unknown>
}

/** Nodes and sessions of one test; call `close` in `afterEach`. */
export class Harness {
  readonly #nodes: ScriptedNode[] = []
  readonly #runs: Run[] = []

  /** Starts a scripted node; returns the node and its URL. */
  async node(
    script: Partial<NodeScript> = {},
    socketPath?: string,
  ): Promise<{ node: ScriptedNode; url: string }> {
    const node = new ScriptedNode(script)
    this.#nodes.push(node)
    return { node, url: await node.listen(socketPath) }
  }

  /** Starts a session that reads from the nodes at `urls`. */
  read(
    urls: string | ShipSessionOptions['urls'],
    options: Partial<ShipSessionOptions> = {},
    collector = new Collector(),
  ): Run {
    const log: LoggedLine[] = []
    const line = (level: LoggedLine['level']) => (details: object, message: string) => {
      log.push({ level, details, message })
    }
    const session = createShipSession(
      {
        urls: typeof urls === 'string' ? [urls] : urls,
        chainId: testChainId.toString('hex'),
        startBlock: 1,
        compileProtocol: plainCodec,
        logger: { debug: line('debug'), info: line('info'), warn: line('warn') },
        ...options,
        timing: { ...testTiming, ...options.timing },
      },
      collector,
    )
    collector.session = session
    const abort = new AbortController()
    const done = session.run(abort.signal).catch((error: unknown) => error)
    const run: Run = {
      collector,
      session,
      log,
      done,
      stop: () => {
        abort.abort()
        return done
      },
    }
    this.#runs.push(run)
    return run
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.stop()))
    await Promise.all(this.#nodes.map((node) => node.close()))
    this.#runs.length = 0
    this.#nodes.length = 0
  }
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
