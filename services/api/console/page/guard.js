/*
 * Shows a message if a module of the page cannot be loaded or fails; otherwise the page would show "Loading" forever.
 * The page loads this script before the modules.
 */
;(function () {
  const PATIENCE_MS = 15_000

  function isLoading() {
    const word = document.getElementById('health-word')
    return word !== null && word.textContent === 'Loading'
  }

  /** @param {string} text */
  function explain(text) {
    const notice = document.getElementById('notice')
    const place = document.getElementById('notice-text')
    const action = document.getElementById('notice-action')
    if (notice === null || place === null || action === null || !isLoading()) return
    place.textContent = text
    action.textContent = 'Reload'
    action.addEventListener('click', () => {
      location.reload()
    })
    notice.dataset.kind = 'error'
    notice.hidden = false
    document.getElementById('health-word')?.replaceChildren('Not loaded')
    for (const id of ['readers-empty', 'events-note', 'storage-note']) {
      document.getElementById(id)?.replaceChildren('Not loaded')
    }
  }

  function check() {
    explain(
      'This page could not load all of its scripts. Reload the page, or read /health, which has the same facts as JSON.',
    )
  }

  // Error events of scripts that cannot be loaded do not bubble: listen in the capture phase.
  addEventListener(
    'error',
    (event) => {
      const isScript = event.target instanceof HTMLScriptElement || event instanceof ErrorEvent
      if (!isScript) return
      if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', check)
      else check()
    },
    true,
  )
  setTimeout(check, PATIENCE_MS)
})()
