import { join } from 'node:path'
import type { RenderPlaces } from '../../services/appliance/render/index.ts'

/** Chain variables of a valid `.env`. */
export const real = {
  CHAIN: 'wax-mainnet',
  CHAIN_HTTP: 'http://node.test:8888',
  CHAIN_SHIP: 'ws://node.test:8080',
}

/** Output folders of one rendering inside a temporary folder. */
export function placesIn(folder: string, name: string): RenderPlaces {
  return { out: join(folder, name), certificateFiles: join(folder, name) }
}
