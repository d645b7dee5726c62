import { knownChains } from '../../core/config/schema/index.ts'

/** Values that `CHAIN` sets. A variable that the operator sets takes precedence. */
export type Preset = Readonly<
  Record<'CHAIN_NAME' | 'CHAIN_ID', string> &
    Partial<
      Record<'START_BLOCK' | 'ASSETS_ACCOUNT' | 'MARKET_ACCOUNT' | 'ORACLE_ACCOUNT' | 'TOOLS_ACCOUNT', string>
    >
>

/** Public chains by the name that `CHAIN` takes. */
export const presets: Readonly<Record<string, Preset>> = Object.fromEntries(
  knownChains.map(({ name, id, startBlock }) => [
    name,
    {
      CHAIN_NAME: name,
      CHAIN_ID: id,
      ...(startBlock === undefined ? {} : { START_BLOCK: String(startBlock) }),
    },
  ]),
)

/** The settings of the public chain with this name; undefined for an unknown name. */
export const findPreset = (name: string): Preset | undefined =>
  Object.hasOwn(presets, name) ? presets[name] : undefined

/** The bundled demo chain, as the service `devchain` serves it. */
export const demoPreset = {
  CHAIN_NAME: 'demo',
  CHAIN_HTTP: 'http://devchain:8888',
  CHAIN_SHIP: 'ws://devchain:8080',
  START_BLOCK: '0',
} as const
