export { prepareDatabase } from './database/index.ts'
export { checkRender, ensureSecrets, render, resolveVariables } from './render/index.ts'
export type { RenderPlaces, RenderReport } from './render/index.ts'
