export { prepareDatabase } from './prepare.ts'
export type { PrepareOptions } from './prepare.ts'
export { rotateSecrets } from './rotate.ts'
export type { RotateOptions } from './rotate.ts'
