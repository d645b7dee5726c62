import type { ConnectionsConfig } from './connections/index.ts'
import type { ConfigWarning } from './problems.ts'
import type { ReaderConfig } from './schema/index.ts'
import type { ServerConfig } from './schema/index.ts'

/** The validated content of the configuration files with all defaults. Keys have the same names as in the files. */
export interface AppConfig {
  readonly connections: ConnectionsConfig
  readonly server: ServerConfig
  readonly readers: readonly ReaderConfig[]
}

/** Short name of a configuration file: `connections`, `server` or `readers`. */
export type ConfigPart = keyof AppConfig

/** Configuration whose type guarantees the parts `N`. Each other part is present only if it was given. */
export type ConfigWith<N extends ConfigPart> = Pick<AppConfig, N> & Partial<AppConfig>

/** A valid configuration with its warnings. */
export interface LoadedConfig<N extends ConfigPart> {
  readonly config: ConfigWith<N>
  readonly warnings: readonly ConfigWarning[]
}

/** File name of each configuration file, by its short name. */
export const configFiles: Readonly<Record<ConfigPart, string>> = {
  connections: 'connections.config.json',
  server: 'server.config.json',
  readers: 'readers.config.json',
}
