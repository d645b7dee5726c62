export { exitCodes } from './exit-codes.ts'
export type { CliIo } from './io.ts'
export { runCli } from './program.ts'
