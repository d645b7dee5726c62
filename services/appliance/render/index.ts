export { certificateFiles, endOf, installCertificate, timeLeft } from './certificate.ts'

export { checkRender, readHasuraSettings, render } from './render.ts'
export type { RenderPlaces, RenderReport } from './render.ts'
export { resolveVariables } from './resolve.ts'
export type { Resolved, Values } from './resolve.ts'
export { ensureSecrets, newSecret, secretNames, stageSecret } from './secrets.ts'
export type { SecretName, Secrets } from './secrets.ts'
export { variables } from './variables.ts'
