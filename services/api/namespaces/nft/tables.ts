/** Schema-qualified names of tables that several lists read. `Statistics` stores row estimates by these names. */
export const ASSETS = 'assets.assets'
export const SCHEMAS = 'assets.schemas'
export const TEMPLATES = 'assets.templates'
