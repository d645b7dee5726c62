/** Tables that several lists read, by their keys in `Statistics`. */
export const ASSETS = 'assets.assets'
export const SCHEMAS = 'assets.schemas'
export const TEMPLATES = 'assets.templates'
