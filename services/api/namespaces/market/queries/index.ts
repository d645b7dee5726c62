export { assetsContract, marketConfig, marketplaces } from './config.ts'
export { royaltyAttributes, royaltyConfig, royaltyTemplates } from './royalties.ts'
