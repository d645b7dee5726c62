export { eventCatalogue, eventOfAction } from './catalogue.ts'
export type { EventEntry, EventFamily, EventEntity } from './catalogue.ts'
export { encodeFeedMessage } from './codec.ts'
export { feedChannel, MAX_BUS_CHARACTERS } from './message.ts'
export type {
  FeedBlock,
  FeedEvent,
  FeedEntry,
  FeedLag,
  FeedTrace,
  FeedTransaction,
  FeedKeys,
} from './message.ts'
export { packFeedText, newestCursor, readFeedState } from './stored-feed.ts'
export type { FeedQuery, FeedState } from './stored-feed.ts'
export { cursorAfter, encodeCursor, decodeCursor } from './cursor.ts'
export type { FeedCursor } from './cursor.ts'
export { subscribeToFeed } from './feed-subscriber.ts'
export type { FeedSubscriber, SubscriberStatus } from './feed-subscriber.ts'
export { readMissed } from './resume.ts'
export type { MissedEntry } from './resume.ts'
