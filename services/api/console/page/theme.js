/*
 * Runs before the first paint, so that the page does not flash in a theme other than the chosen one.
 */
;(() => {
  try {
    const chosen = localStorage.getItem('pronghorn-theme')
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen
  } catch {
    // Without local storage the page uses the colour scheme of the device.
  }
})()
