import { join } from 'node:path'
import type { RenderPlaces } from '../../services/appliance/render/index.ts'

/** Variables of a chain, as an `.env` has them. */
export const real = {
  CHAIN: 'wax-mainnet',
  CHAIN_HTTP: 'http://node.test:8888',
  CHAIN_SHIP: 'ws://node.test:8080',
}

/** Places for one rendering in a temporary folder. */
export function placesIn(folder: string, name: string): RenderPlaces {
  return { out: join(folder, name), certificateFiles: join(folder, name) }
}
