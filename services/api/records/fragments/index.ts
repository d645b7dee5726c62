export { Fragments, FoundFragments, fragmentBytes, membersText } from './fragments.ts'
export type { Fragment, FragmentKind, WantedFragments } from './fragments.ts'
export { sharedRow, ownRow } from './shared-row.ts'
export type { SharedRow } from './shared-row.ts'
