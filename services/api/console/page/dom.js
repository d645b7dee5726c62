/**
 * Returns the element with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no #${id}`)
  return found
}

/** Creates an element with text, classes, attributes and children. Text is never read as HTML.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {{ text?: string, class?: string, attributes?: Readonly<Record<string, string>> }} [traits]
 * @param {readonly Node[]} [children]
 * @returns {HTMLElementTagNameMap[T]}
 */
export function create(tag, traits = {}, children = []) {
  const element = document.createElement(tag)
  if (traits.class !== undefined) element.className = traits.class
  if (traits.text !== undefined) element.textContent = traits.text
  for (const [name, value] of Object.entries(traits.attributes ?? {})) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/**
 * Sets the text of an element. An unchanged text is not assigned again, because screen readers would announce it again.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/**
 * @param {HTMLElement} element
 * @param {boolean} isShown
 */
export function show(element, isShown) {
  element.hidden = !isShown
}
