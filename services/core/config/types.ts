import type { ConnectionsConfig } from './connections/index.ts'
import type { ConfigWarning } from './problems.ts'
import type { ReaderConfig } from './schema/index.ts'
import type { ServerConfig } from './schema/index.ts'

/** The three files, validated, with every default filled in. Key names are those of the files. */
export interface AppConfig {
  readonly connections: ConnectionsConfig
  readonly server: ServerConfig
  readonly readers: readonly ReaderConfig[]
}

/** A part of the configuration: one file. */
export type ConfigPart = keyof AppConfig

/** The parts that were asked for are there; the others when they were given. */
export type ConfigWith<N extends ConfigPart> = Pick<AppConfig, N> & Partial<AppConfig>

/** A configuration that can be started with. */
export interface LoadedConfig<N extends ConfigPart> {
  readonly config: ConfigWith<N>
  readonly warnings: readonly ConfigWarning[]
}

/** File name of each part. */
export const configFiles: Readonly<Record<ConfigPart, string>> = {
  connections: 'connections.config.json',
  server: 'server.config.json',
  readers: 'readers.config.json',
}
