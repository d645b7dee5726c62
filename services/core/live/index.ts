export { eventCatalogue, eventOfAction } from './catalogue.ts'
export type { EventEntity, EventEntry, EventFamily, KeyFields, SocketEvent } from './catalogue.ts'
export { decodeFeedEntry, decodeFeedMessage, encodeFeedMessage } from './codec.ts'
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
