/** Tables that several lists read, as statistics know them. */
export const ASSETS = 'assets.assets'
export const SCHEMAS = 'assets.schemas'
export const TEMPLATES = 'assets.templates'
