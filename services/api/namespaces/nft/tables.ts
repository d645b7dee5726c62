/** Names of the tables that several lists read: their keys in `Statistics`. */
export const ASSETS = 'assets.assets'
export const SCHEMAS = 'assets.schemas'
export const TEMPLATES = 'assets.templates'
