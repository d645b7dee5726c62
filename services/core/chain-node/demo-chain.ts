/**
 * Chain id of the bundled demo chain, taken from the first recording. A service on this chain labels itself as a demo.
 */
export const DEMO_CHAIN_ID = '6693f0d1bb4e997750f43a152bda2683a1f6bbad5430aa21819f10f822483320'
