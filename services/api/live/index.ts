export type { ChannelMount } from './channel.ts'
export { openLive } from './live-service.ts'
export type { LiveFeedState, LiveOptions, LiveService } from './live-service.ts'
export type { LiveObserver } from './observer.ts'
