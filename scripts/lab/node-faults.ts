import type { MirrorNode } from './mirror.ts'

/** What can happen to a node at the head, and what ends it. */
export interface NodeFault {
  happen(node: MirrorNode): void | Promise<void>
  end(node: MirrorNode): void | Promise<void>
}

/** Blocks that a node loses when it is set back, or when it goes to its own branch. */
const DEPTH = 4

/** Faults of a node at the head, by name. */
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
