import type { MirrorNode } from './mirror.ts'

/** A fault of a node: `happen` begins the fault, `end` ends it. */
export interface NodeFault {
  happen(node: MirrorNode): void | Promise<void>
  end(node: MirrorNode): void | Promise<void>
}

/** Number of blocks that a node loses when it is set back or moves to a branch of its own. */
const DEPTH = 4

/** Faults of a node at the head of the chain, by name. */
export const nodeFaults: Readonly<Record<'frozen' | 'killed' | 'rewound' | 'branched', NodeFault>> = {
  frozen: {
    happen: (node) => {
      node.conduct.frozen = true
    },
    end: (node) => node.thaw(),
  },
  killed: {
    happen: (node) => node.kill(),
    end: async (node) => {
      await node.start()
    },
  },
  rewound: {
    happen: (node) => node.setBack(DEPTH),
    end: (node) => node.rejoin(),
  },
  branched: {
    happen: (node) => node.branchOff(DEPTH),
    end: (node) => node.rejoin(),
  },
}
