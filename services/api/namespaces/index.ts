import type { NamespaceConfig, NamespaceName } from '../../core/config/schema/index.ts'
import type { Namespace } from '../endpoint/index.ts'
import { Fragments } from '../records/fragments/index.ts'
import { createAssetsNamespace } from './assets/index.ts'
import { createMarketNamespace } from './market/index.ts'
import { createToolsNamespace } from './tools/index.ts'

/** Features of the database that change the queries of the API. */
export interface DatabaseTraits {
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/**
 * Creates the namespace of an entry of the configuration. Undefined if this version does not serve the contract family
 * of the entry.
 * @param fragments cached fragments of the rows that the records of the namespace share.
 */
export type NamespaceFactory = (
  config: NamespaceConfig,
  traits: DatabaseTraits,
  fragments?: Fragments,
) => Namespace | undefined

/** Namespace factories by contract family. */
const families: Readonly<
  Record<NamespaceName, (...known: Required<Parameters<NamespaceFactory>>) => Namespace | undefined>
> = {
  assets: (config, traits, fragments) =>
    config.name === 'assets'
      ? createAssetsNamespace({
          contract: config.args.assets_account,
          limits: config.args.limits,
          shared: fragments,
          trigrams: traits.trigrams,
        })
      : undefined,
  market: (config, traits, fragments) =>
    config.name === 'market'
      ? createMarketNamespace({
          contract: config.args.market_account,
          assetsContract: config.args.assets_account,
          limits: config.args.limits,
          shared: fragments,
          trigrams: traits.trigrams,
          disableV1Sales: config.args.api_features.disable_v1_sales,
        })
      : undefined,
  tools: (config, _traits, fragments) =>
    config.name === 'tools'
      ? createToolsNamespace({
          contract: config.args.tools_account,
          assetsContract: config.args.assets_account,
          limits: config.args.limits,
          shared: fragments,
        })
      : undefined,
}

/**
 * Creates the namespace of an entry of the configuration. Undefined if this version does not serve the contract family
 * of the entry.
 */
export const createNamespace: NamespaceFactory = (config, traits, fragments = new Fragments()) =>
  families[config.name](config, traits, fragments)
