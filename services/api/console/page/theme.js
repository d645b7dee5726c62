/*
 * Runs before anything is drawn, so that the page does not flash in other colours than those that were chosen.
 */
;(() => {
  try {
    const chosen = localStorage.getItem('pronghorn-theme')
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen
  } catch {
    // Without storage the device decides.
  }
})()
