import { byId } from './dom.js'

const KEY = 'pronghorn-theme'
const themes = ['device', 'light', 'dark']
const words = /** @type {Readonly<Record<string, string>>} */ ({
  device: 'as the device',
  light: 'light',
  dark: 'dark',
})
const icons = /** @type {Readonly<Record<string, string>>} */ ({
  device: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 2v14a7 7 0 0 1 0-14z',
  light:
    'M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4zM3.500 4.900l1.400-1.400 2.800 2.800-1.400 1.400zM16.300 17.700l1.400-1.400 2.800 2.800-1.400 1.400zM19.100 3.500l1.400 1.400-2.800 2.800-1.400-1.400zM6.300 16.300l1.400 1.400-2.800 2.800-1.400-1.400z',
  dark: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z',
})

/** Starts the button that cycles through the colour themes: device setting, light, dark. */
export function startThemeButton() {
  const button = byId('theme')
  const icon = byIdOfIcon()
  const show = () => {
    const theme = document.documentElement.dataset.theme ?? 'device'
    const label = `Colours: ${words[theme] ?? ''}`
    button.setAttribute('aria-label', label)
    button.title = label
    icon.setAttribute('d', icons[theme] ?? '')
  }
  button.addEventListener('click', () => {
    const now = themes.indexOf(document.documentElement.dataset.theme ?? 'device')
    const next = themes[(now + 1) % themes.length] ?? 'device'
    if (next === 'device') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    save(next)
    show()
    document.dispatchEvent(new Event('themechange'))
  })
  show()
}

function byIdOfIcon() {
  const icon = document.querySelector('#theme-icon')
  if (!icon) throw new Error('the page has no #theme-icon')
  return icon
}

/** @param {string} theme */
function save(theme) {
  try {
    if (theme === 'device') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Without local storage the choice is lost when the page is reloaded.
  }
}
