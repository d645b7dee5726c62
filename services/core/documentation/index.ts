export { createFileAnswer } from './static-file.ts'
export type { StaticFile } from './static-file.ts'
export { createViewer, textFile } from './viewer.ts'
