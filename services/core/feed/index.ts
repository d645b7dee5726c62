export { encodeFeedMessage, decodeFeedMessage, decodeFeedEntry } from './codec.ts'
export { feedChannel, MAX_BUS_CHARACTERS } from './message.ts'
export type {
  FeedBlock,
  FeedEvent,
  FeedEntry,
  FeedLag,
  FeedTrace,
  FeedTransaction,
  FeedGap,
  FeedMessage,
  FeedFork,
  FeedKeys,
} from './message.ts'
