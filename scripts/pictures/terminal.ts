/** A character of the screen, with its colour. */
interface Cell {
  readonly character: string
  readonly colour: string
}

const colours: Readonly<Record<string, string>> = {
  31: '#f58b80',
  32: '#7ec699',
  33: '#e6b450',
  39: '#e6e6e6',
}
const PLAIN = '#e6e6e6'
const CHARACTER_WIDTH = 8.4
const LINE_HEIGHT = 20
const MARGIN = 16
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\x1b\[(\??[\d;]*)([A-Za-z])/y

/** A minimal terminal emulator: plain lines, colours, and a progress bar that is redrawn. */
class Screen {
  readonly #lines: Cell[][] = [[]]
  #row = 0
  #column = 0
  #colour = PLAIN

  write(text: string): void {
    for (let at = 0; at < text.length;) {
      SEQUENCE.lastIndex = at
      const sequence = SEQUENCE.exec(text)
      if (sequence) {
        this.#control(sequence[2]!, sequence[1]!)
        at = SEQUENCE.lastIndex
      } else this.#put(text[at++]!)
    }
  }

  /** The last lines of the screen that are not empty, at most `most`. */
  lines(most: number): readonly (readonly Cell[])[] {
    const filled = this.#lines.filter((line) => line.some(({ character }) => character !== ' '))
    return filled.slice(-most)
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0
    else if (character === '\n') {
      this.#row++
      this.#column = 0
      this.#lines[this.#row] ??= []
    } else if (character >= ' ') {
      const line = this.#lines[this.#row]!
      while (line.length < this.#column) line.push({ character: ' ', colour: PLAIN })
      line[this.#column++] = { character, colour: this.#colour }
    }
  }

  #control(kind: string, parameters: string): void {
    const count = Number(parameters === '' ? 1 : parameters)
    if (kind === 'm') this.#colour = colours[parameters] ?? PLAIN
    else if (kind === 'A') this.#row = Math.max(0, this.#row - count)
    else if (kind === 'B') this.#row = Math.min(this.#lines.length - 1, this.#row + count)
    else if (kind === 'G') this.#column = count - 1
    else if (kind === 'D') this.#column = Math.max(0, this.#column - count)
    else if (kind === 'K') {
      const line = this.#lines[this.#row]!
      if (parameters === '2') line.length = 0
      else if (parameters !== '1') line.length = Math.min(line.length, this.#column)
    } else if (kind === 'J') {
      this.#lines[this.#row]!.length = Math.min(this.#lines[this.#row]!.length, this.#column)
      this.#lines.length = this.#row + 1
    }
  }
}

/**
 * Renders the final screen of a terminal output as SVG.
 * @param secrets patterns whose matches are masked.
 */
export function drawTerminal(output: string, secrets: readonly RegExp[], most = 24): string {
  const screen = new Screen()
  screen.write(secrets.reduce((text, secret) => text.replace(secret, '…'), output))
  const lines = screen.lines(most)
  const width = Math.max(80, ...lines.map((line) => line.length)) * CHARACTER_WIDTH + 2 * MARGIN
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN
  const texts = lines.map((line, row) => {
    const y = MARGIN + (row + 0.75) * LINE_HEIGHT
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${runsOf(line)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" font-family="monospace" font-size="14">`,
    '<rect width="100%" height="100%" rx="8" fill="#1d1f21"/>',
    ...texts,
    '</svg>\n',
  ].join('\n')
}

function runsOf(line: readonly Cell[]): string {
  let text = ''
  for (let at = 0; at < line.length;) {
    const { colour } = line[at]!
    let run = ''
    while (at < line.length && line[at]!.colour === colour) run += line[at++]!.character
    text += `<tspan fill="${colour}">${escapeXml(run)}</tspan>`
  }
  return text
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
