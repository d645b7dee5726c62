import type { Findings, Place } from './findings.ts'
import { accountOf } from './reader-checks.ts'
import type { HandlerName } from './schema/index.ts'
import type { NamespaceConfig } from './schema/index.ts'
import type { ReaderView, ServerView } from './views.ts'

const rootPaths = [
  'health',
  'healthc',
  'alive',
  'timestamp',
  'docs',
  'metrics',
  'socket.io',
  'openapi.json',
  'v0',
]

interface MountedPath extends Place {
  readonly namespace: string
}

/** Checks of the server file that involve several keys. */
export function checkServer(server: ServerView, findings: Findings): void {
  const mounted = new Map<string, MountedPath>()
  server.namespaces.forEach((namespace, at) => {
    if (!namespace) return
    const places: [string, (string | number)[]][] = [[namespace.path, ['namespaces', at, 'path']]]
    namespace.aliases.forEach((alias, index) => places.push([alias, ['namespaces', at, 'aliases', index]]))
    for (const [path, place] of places) {
      // Compare paths in lower case, because the routing of requests ignores letter case.
      const folded = path.toLowerCase()
      const taken = mounted.get(folded)
      const mount = { part: 'server', path: place, namespace: namespace.name } as const
      if (taken !== undefined) {
        const fault = findings.chooseFault<MountedPath>(taken, mount)
        const { namespace: other } = fault === taken ? mount : taken
        findings.refuse('server', fault.path, `another path: namespace "${other}" answers there`)
      } else if (rootPaths.includes(folded.split('/')[1] ?? '')) {
        findings.refuse('server', place, `a path that does not begin with one of /${rootPaths.join(', /')}`)
      } else {
        mounted.set(folded, mount)
      }
    }
  })
  if (server.metrics_port !== undefined && server.metrics_port === server.server_port) {
    refuseMetricsPort(findings, server.server_port)
  }
  warnAboutForgery(server, findings)
}

/** Refuses one of the two ports of the server file, because both have the same number. */
function refuseMetricsPort(findings: Findings, port: number): void {
  const ofServer: Place = { part: 'server', path: ['server_port'] }
  const fault = findings.chooseFault(ofServer, { part: 'server', path: ['metrics_port'] })
  const other = fault === ofServer ? 'metrics_port' : 'server_port'
  findings.refuse('server', fault.path, `another port than \`${other}\`, which is ${port}`)
}

function warnAboutForgery(server: ServerView, findings: Findings): void {
  const trusted = server.trust_proxy === true || typeof server.trust_proxy === 'number'
  if (!trusted || (server.ip_whitelist ?? []).length === 0) return
  findings.warn(
    'server',
    ['ip_whitelist'],
    'a client that bypasses the proxy can claim one of these addresses; name the proxies in trust_proxy, or use peer_whitelist',
  )
}

/** Checks that involve both the server file and the readers file. */
export function checkServerWithReaders(
  server: ServerView,
  readers: readonly ReaderView[],
  findings: Findings,
): void {
  const names = readers.map((reader) => reader.name)
  const isWhole = names.every((name) => name !== undefined)
  const families = collectAccounts(readers)
  server.namespaces.forEach((namespace, at) => {
    if (!namespace) return
    const connected = namespace.args.connected_reader
    if (connected !== undefined && isWhole && !names.includes(connected)) {
      const allowed = `the name of a reader in readers.config.json: ${names.map((name) => JSON.stringify(name)).join(', ')}`
      findings.refuse('server', ['namespaces', at, 'args', 'connected_reader'], allowed)
    }
    warnAboutReader(namespace, at, readers, findings)
    const [argument, account] = servedAccount(namespace)
    const indexed = families.get(namespace.name)
    if (indexed === account) return
    const which = indexed === undefined ? 'no reader indexes this contract' : `the readers index "${indexed}"`
    findings.warn(
      'server',
      ['namespaces', at, 'args', argument],
      `${which}; this server will show no new data of this contract`,
    )
  })
  checkPorts(server, readers, findings)
}

/**
 * Warns about a namespace that is connected to a reader without the namespace's contract, although another reader
 * indexes the contract. Live data come only from the connected reader.
 */
function warnAboutReader(
  namespace: NamespaceConfig,
  at: number,
  readers: readonly ReaderView[],
  findings: Findings,
): void {
  const hasContract = ({ contracts }: ReaderView): boolean =>
    contracts.some((contract) => contract === undefined || contract.handler === namespace.name)
  const connected = readers.find(({ name }) => name !== undefined && name === namespace.args.connected_reader)
  const other = readers.find(hasContract)
  if (connected?.name === undefined || other === undefined || hasContract(connected)) return
  findings.warn(
    'server',
    ['namespaces', at, 'args', 'connected_reader'],
    `the namespace "${namespace.name}" has no live data, because its connected_reader "${connected.name}" does not index the contract; reader "${other.name ?? ''}" indexes the contract`,
  )
}

function collectAccounts(readers: readonly ReaderView[]): Map<HandlerName, string> {
  const contracts = readers.flatMap((reader) => reader.contracts.filter((contract) => contract !== undefined))
  return new Map(contracts.map((contract) => [contract.handler, accountOf(contract)]))
}

function servedAccount(namespace: NamespaceConfig): [argument: string, account: string] {
  switch (namespace.name) {
    case 'assets':
      return ['assets_account', namespace.args.assets_account]
    case 'market':
      return ['market_account', namespace.args.market_account]
    case 'tools':
      return ['tools_account', namespace.args.tools_account]
  }
}

/**
 * Refuses equal ports of the API and the filler, because both may run on one machine. The filler listens on the port of
 * the first reader only, so the ports of other readers are not checked.
 */
function checkPorts(server: ServerView, readers: readonly ReaderView[], findings: Findings): void {
  const listener = readers[0]
  if (listener?.server_port === undefined || !overlap(server.server_addr, listener.server_addr)) return
  const taken = server.server_port === listener.server_port ? 'server_port' : 'metrics_port'
  if (server[taken] !== listener.server_port) return
  const ofServer: Place = { part: 'server', path: [taken] }
  const ofReader: Place = { part: 'readers', path: [0, 'server_port'] }
  const fault = findings.chooseFault(ofServer, ofReader)
  const other =
    fault === ofServer ? '`server_port` of readers.config.json' : `\`${taken}\` of server.config.json`
  findings.refuse(fault.part, fault.path, `another port than ${other}, which is ${listener.server_port}`)
}

function overlap(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false
  const everywhere = ['0.0.0.0', '::']
  return one === other || everywhere.includes(one) || everywhere.includes(other)
}
