/** Id of the bundled chain: that of its first recording. A service on it says that it is the demo chain. */
export const DEMO_CHAIN_ID = '6693f0d1bb4e997750f43a152bda2683a1f6bbad5430aa21819f10f822483320'
