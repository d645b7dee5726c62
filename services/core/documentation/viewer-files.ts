/** Scripts and styles that this program adds to Swagger UI, on the page that shows an OpenAPI document. */

/** Script that applies the device's colour scheme. Loaded first, so that a dark page does not flash white. */
export const COLOURS = `const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', paint)
paint()
`

/**
 * Script that fixes accessibility of Swagger UI: names fields for screen readers, and disables links inside buttons,
 * where the keyboard would stop twice. Swagger UI redraws at any time, so the script observes all changes of
 * the page.
 */
export const NAMES = `const viewer = document.getElementById('viewer')
const regions = { '.information-container': 'About', '.scheme-container': 'Server', '.filter-container': 'Filter' }
const nameOf = (field) =>
  field.closest('[data-param-name]')?.dataset.paramName ||
  field.placeholder ||
  (field.id === 'servers' ? 'Server' : field.closest('.responses-wrapper') ? 'Media type' : 'Body of the request')
const giveNames = () => {
  for (const field of viewer.querySelectorAll('select, textarea, input')) {
    if (!field.hasAttribute('aria-label')) field.setAttribute('aria-label', nameOf(field))
  }
  for (const [selector, name] of Object.entries(regions)) {
    const region = viewer.querySelector(selector)
    region?.setAttribute('role', 'region')
    region?.setAttribute('aria-label', name)
  }
  for (const link of viewer.querySelectorAll('button a[href]')) link.removeAttribute('href')
  for (const copy of viewer.querySelectorAll('div.copy-to-clipboard[aria-label]')) copy.removeAttribute('aria-label')
}
let isPlanned = false
new MutationObserver(() => {
  if (isPlanned) return
  isPlanned = true
  requestAnimationFrame(() => {
    isPlanned = false
    giveNames()
  })
}).observe(viewer, { childList: true, subtree: true })
`

/**
 * Swagger UI plugin that shows a long response in pieces: the browser lays out visible pieces only, while the layout of
 * the whole text takes seconds. Drops the parsed form of a response, which Swagger UI would copy needlessly. The text
 * scrolls, so `tabIndex` makes the text reachable by keyboard.
 */
export const PIECES = `const piecesOf = (text) => text.match(/(?:[^\\n]*\\n){1,300}|[^\\n]+$/g) ?? []
const textOnly = (response) => Object.assign(response, { body: undefined, obj: undefined })
const piecesPlugin = ({ React }) => ({
  components: {
    PlainTextViewer: ({ className = '', children }) =>
      React.createElement('pre', { className: 'microlight ' + className, tabIndex: 0 },
        piecesOf(String(children)).map((text, key) => React.createElement('span', { key, className: 'piece' }, text))),
  },
})
`

/**
 * Styles for narrow windows, where tables become lists and long words break: Swagger UI expects a wide window. Also
 * raises the contrast of the light colours of Swagger UI.
 */
export const STYLES = `body { margin: 0; }
.swagger-ui .highlight-code > pre { max-height: 60vh; overflow: auto; }
html:not(.dark-mode) .swagger-ui a:not(.nostyle), html:not(.dark-mode) .swagger-ui .info .base-url, html:not(.dark-mode) .swagger-ui .info .url { color: #1f5fae; }
html:not(.dark-mode) .swagger-ui .info .title small { background: #565d6b; }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: #456300; }
html:not(.dark-mode) .swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1f63a8; }
html:not(.dark-mode) .swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1a6b43; }
html:not(.dark-mode) .swagger-ui .parameter__in, html:not(.dark-mode) .swagger-ui .prop-format { color: #595959; }
html:not(.dark-mode) .swagger-ui .btn.execute { background: #1f63a8; border-color: #1f63a8; }
html:not(.dark-mode) .swagger-ui .btn.cancel, html:not(.dark-mode) .swagger-ui .parameter__name.required::after { border-color: #b3261e; color: #b3261e; }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: #1a6b43; color: #1a6b43; }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #1a6b43; }
html:not(.dark-mode) .swagger-ui .download-contents { background: #565d6b; }
.swagger-ui select { appearance: auto !important; background-image: none !important; }
.swagger-ui .piece { content-visibility: auto; contain-intrinsic-height: auto 6000px; display: block; }
:focus-visible { outline: 3px solid #c96a26 !important; outline-offset: 2px; }
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important; transition: none !important; } }
@media (max-width: 700px) {
  .swagger-ui .wrapper, .swagger-ui .opblock-body, .swagger-ui .scheme-container { max-width: 100vw; box-sizing: border-box; padding-left: 10px; padding-right: 10px; }
  .swagger-ui .info { margin: 20px 0; overflow-wrap: anywhere; }
  .swagger-ui .info .title { font-size: 26px; }
  .swagger-ui .opblock-tag, .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 0; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; overflow-wrap: anywhere; }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; }
  .swagger-ui table.parameters, .swagger-ui table.parameters > tbody, .swagger-ui table.parameters tr, .swagger-ui table.parameters td,
  .swagger-ui table.responses-table, .swagger-ui table.responses-table > tbody, .swagger-ui table.responses-table tr, .swagger-ui table.responses-table td { display: block; width: auto; }
  .swagger-ui table.parameters > thead, .swagger-ui table.responses-table > thead { display: none; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { width: 100%; max-width: 100%; min-width: 0; }
}
`
