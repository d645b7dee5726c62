import type { NamespaceConfig, NamespaceName } from '../../core/config/index.ts'
import type { Namespace } from '../endpoint/index.ts'
import { createAssetsNamespace } from './assets/index.ts'
import { createMarketNamespace } from './market/index.ts'
import { createToolsNamespace } from './tools/index.ts'

/** What the namespaces know of the database that they read. */
export interface DatabaseTraits {
  /** Whether it has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/** Makes the namespace of a configuration entry; undefined when its family is not served. */
export type NamespaceFactory = (config: NamespaceConfig, traits: DatabaseTraits) => Namespace | undefined

/** One line for each contract family that can be served. */
const families: Readonly<Record<NamespaceName, NamespaceFactory>> = {
  assets: (config, traits) =>
    config.name === 'assets'
      ? createAssetsNamespace({
          contract: config.args.assets_account,
          limits: config.args.limits,
          trigrams: traits.trigrams,
        })
      : undefined,
  market: (config, traits) =>
    config.name === 'market'
      ? createMarketNamespace({
          contract: config.args.market_account,
          assetsContract: config.args.assets_account,
          limits: config.args.limits,
          trigrams: traits.trigrams,
          disableV1Sales: config.args.api_features.disable_v1_sales,
        })
      : undefined,
  tools: (config) =>
    config.name === 'tools'
      ? createToolsNamespace({
          contract: config.args.tools_account,
          assetsContract: config.args.assets_account,
          limits: config.args.limits,
        })
      : undefined,
}

/** The namespace of a configuration entry; undefined when its family is not served by this version. */
export function createNamespace(config: NamespaceConfig, traits: DatabaseTraits): Namespace | undefined {
  return families[config.name](config, traits)
}
