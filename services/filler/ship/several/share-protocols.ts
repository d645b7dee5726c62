/**
 * Compiles each different protocol ABI once. Nodes of one version send the same ABI, and shared generated code is
 * optimised sooner by V8. A full cache is cleared.
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

/** Maximum number of cached protocols. Each cache key is an ABI text of about 35 kB, so the limit bounds the memory. */
const MAX_PROTOCOLS = 16
