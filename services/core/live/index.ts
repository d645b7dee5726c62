export { eventCatalogue, eventOfAction } from './catalogue.ts'
export type { EventEntity, EventEntry, EventFamily, KeyFields, SocketEvent } from './catalogue.ts'
export { encodeFeedMessage } from './codec.ts'
export { cursorAfter, decodeCursor, encodeCursor } from './cursor.ts'
export type { FeedCursor } from './cursor.ts'
export { subscribeToFeed } from './feed-subscriber.ts'
export type {
  FeedSubscriber,
  SubscriberStatus,
  SubscriberTiming,
  SubscribeOptions,
} from './feed-subscriber.ts'
export { feedChannel, MAX_BUS_CHARACTERS } from './message.ts'
export type {
  FeedAuthorization,
  FeedBlock,
  FeedBlockHead,
  FeedEntry,
  FeedEvent,
  FeedFork,
  FeedGap,
  FeedKeys,
  FeedLag,
  FeedMessage,
  FeedPointer,
  FeedTrace,
  FeedTransaction,
} from './message.ts'
export { readMissed } from './resume.ts'
export type { MissedEntry, ResumeOptions } from './resume.ts'
export { newestCursor, packFeedText, readFeed, readFeedState } from './stored-feed.ts'
export type { FeedQuery, FeedState, StoredEntry } from './stored-feed.ts'
