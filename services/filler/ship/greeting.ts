import { unusableProtocol } from './problems.ts'
import type { Problem } from './problems.ts'

/** The largest protocol ABI is about 35 kB; more than this is no protocol ABI. */
export const largestGreetingBytes = 2 ** 20

/** A compiled protocol, or why there is none. */
export type Greeting<P> = { readonly problem: null; readonly protocol: P } | { readonly problem: Problem }

/** Reads the first frame of a node, the protocol ABI as JSON text, and compiles it. */
export function readGreeting<P>(data: Uint8Array, compile: (shipAbi: unknown) => P): Greeting<P> {
  try {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')
    return { problem: null, protocol: compile(JSON.parse(text)) }
  } catch (error) {
    return { problem: unusableProtocol(error) }
  }
}
