/**
 * Compiles the protocol ABI of each node once: nodes of one version send the same, and code that is generated once is
 * fast sooner. Holds as many as there are different ones, which is the number of nodes at most for a while.
 */
export function shareProtocols<P>(compile: (shipAbi: unknown) => P): (shipAbi: unknown) => P {
  const known = new Map<string, P>()
  return (shipAbi) => {
    const text = JSON.stringify(shipAbi)
    const before = known.get(text)
    if (before !== undefined) return before
    const protocol = compile(shipAbi)
    if (known.size >= MAX_PROTOCOLS) known.clear()
    known.set(text, protocol)
    return protocol
  }
}

/** Cached protocols; each has about 35 kB of text. */
const MAX_PROTOCOLS = 16
