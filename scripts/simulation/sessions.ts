import type { SessionFaults } from '../../services/devchain/index.ts'
import type { NextSession } from './node.ts'
import type { SessionFault } from './plan.ts'

/** A state-history message that the protocol does not define. */
const garbage = Buffer.from('01ffffffff00', 'hex')

/** An ABI without the types of the state-history protocol. */
const NO_PROTOCOL = '{"version":"eosio::abi/1.1"}'

/** Converts a fault of the plan to the behaviour of a session. `happened` is called when the fault occurs. */
export function sessionOf(fault: SessionFault, happened: () => void, wake: () => void): NextSession {
  const once = (change: (frame: Buffer) => readonly Buffer[], after: number): SessionFaults => ({
    replace: (frame, sent) => {
      if (sent !== after) return [frame]
      happened()
      return change(frame)
    },
  })
  return (conduct) => {
    switch (fault.kind) {
      case 'duplicate':
        return once((frame) => [frame, frame], fault.after)
      case 'missing':
        return once(() => [], fault.after)
      case 'garbage':
        return once(() => [garbage], fault.after)
      case 'truncated':
        return once((frame) => [frame.subarray(0, Math.floor(frame.length * fault.share))], fault.after)
      case 'empty':
        // Keeps only head and last irreversible block: a result without a block.
        return once((frame) => [Buffer.concat([frame.subarray(0, 73), Buffer.alloc(5)])], fault.after)
      case 'incomplete':
        happened()
        return { withoutPayloads: ['traces'] }
      case 'late':
        return once((frame) => {
          conduct.frozen = true
          setTimeout(() => {
            conduct.frozen = false
            wake()
          }, fault.ms)
          return [frame]
        }, fault.after)
      case 'half-open':
        return once((frame) => {
          conduct.frozen = true
          return [frame]
        }, fault.after)
      case 'dripping':
        return once((frame) => {
          conduct.bytesPerSecond = fault.bytesPerSecond
          return [frame]
        }, fault.after)
      case 'lost-rewinds':
        happened()
        return { loseRewinds: fault.always ? 'always' : 'without-credit' }
      case 'cut':
        return { ...once((frame) => [frame], fault.after), dropAfter: fault.after + 1 }
      case 'no-protocol':
        happened()
        return { abiText: NO_PROTOCOL }
    }
  }
}
