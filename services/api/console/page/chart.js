import { create, setText } from './dom.js'
import { formatClock, formatRate } from './format.js'

/** @typedef {import('../data.ts').HistoryRange} HistoryRange */
/** @typedef {import('../data.ts').HistoryView} HistoryView */

const HEIGHT = 190
/** Length in seconds and description of each period. */
const periods = {
  recent: { span: 600, words: 'last 10 minutes' },
  day: { span: 86_400, words: 'last 24 hours' },
}
/** Minimum length of the time axis, seconds. A page that was just opened has only a few points. */
const LEAST_SPAN = 60
/** If the time axis is shorter, its labels include seconds. */
const SHORT_SPAN = 300
/** Minimum height of the rate axis, blocks per second, so that two blocks per second look like a low line. */
const LEAST_TOP = 5

/** The library uPlot draws on a canvas. The page loads the library before this module. */
const Plot = /** @type {typeof import('uplot')} */ (Reflect.get(globalThis, 'uPlot'))

/**
 * Creates a chart of blocks per second. The arrow keys move from point to point. The value under the pointer is shown
 * above the chart.
 * @param {string} reader
 */
export function createChart(reader) {
  const summary = create('span')
  const readout = create('span', { attributes: { 'aria-live': 'polite' } })
  const box = create('div', { class: 'chart-box', attributes: { tabindex: '0', role: 'img' } })
  const figure = create('figure', { class: 'chart' }, [create('figcaption', {}, [summary, readout]), box])
  /** @type {HistoryRange} */
  let range = 'recent'
  /**
   * Rates by second. Answers of several API processes are merged, and rates from before a process restarted are kept.
   */
  let points = /** @type {Map<number, number | null>} */ (new Map())
  /** @type {InstanceType<typeof Plot> | undefined} */
  let plot
  const draw = () => {
    const data = dataOf(points)
    if (plot) plot.setData(data)
    else if (box.clientWidth > 0) plot = new Plot(optionsOf(box, describePoint), data, box)
  }
  const redraw = () => {
    plot?.destroy()
    plot = undefined
    draw()
  }
  /** @param {number | null | undefined} place */
  const describePoint = (place) => {
    const at = place == null ? undefined : plot?.data[0][place]
    const rate = place == null ? undefined : plot?.data[1]?.[place]
    setText(
      readout,
      at == null || rate == null ? '' : `${formatRate(rate)} blocks/s at ${formatClock(at * 1_000)}`,
    )
  }
  box.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0
    if (step === 0 || !plot) return
    event.preventDefault()
    const last = plot.data[0].length - 1
    const place = Math.min(last, Math.max(0, (plot.cursor.idx ?? last + (step < 0 ? 1 : 0)) + step))
    plot.setCursor({ left: plot.valToPos(plot.data[0][place] ?? 0, 'x'), top: 10 })
  })
  new ResizeObserver(() => {
    if (plot && box.clientWidth > 0) plot.setSize({ width: box.clientWidth, height: HEIGHT })
    else draw()
  }).observe(box)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  document.addEventListener('themechange', redraw)
  return {
    element: figure,
    /**
     * @param {HistoryView} history
     * @param {HistoryRange} shown
     */
    update(history, shown) {
      if (shown !== range) points = new Map()
      range = shown
      for (const [place, time] of history.times.entries()) points.set(time, history.rates[place] ?? null)
      const newest = Math.max(0, ...points.keys())
      for (const time of points.keys()) if (time < newest - periods[range].span) points.delete(time)
      const text = describe(ratesOf(points), periods[range].words)
      setText(summary, text)
      box.setAttribute('aria-label', `${reader}, ${text}`)
      draw()
    },
  }
}

/** @param {ReadonlyMap<number, number | null>} points */
function ratesOf(points) {
  return [...points.values()].filter((rate) => rate !== null)
}

/**
 * @param {readonly number[]} rates
 * @param {string} words
 */
function describe(rates, words) {
  if (rates.length === 0) return `Blocks per second, ${words}: no values yet`
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length
  return `Blocks per second, ${words}: ${formatRate(mean)} on average, ${formatRate(Math.max(...rates))} at most`
}

/**
 * Sorts the points by time. A point without a rate ends a period of unknown speed: the line has a gap there.
 * @param {ReadonlyMap<number, number | null>} points
 * @returns {import('uplot').AlignedData}
 */
function dataOf(points) {
  const times = [...points.keys()].sort((one, other) => one - other)
  return [times, times.map((time) => points.get(time) ?? null)]
}

/**
 * @param {HTMLElement} box
 * @param {(place: number | null | undefined) => void} describePoint
 * @returns {import('uplot').Options}
 */
function optionsOf(box, describePoint) {
  const colour = colourReader(box)
  const axis = {
    stroke: colour('--quiet'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('--track'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: box.clientWidth,
    height: HEIGHT,
    // Half of the last label of the time axis extends beyond the end of the axis.
    padding: [8, 30, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: true, range: (_plot, first, last) => [Math.min(first, last - LEAST_SPAN), last] },
      y: { range: (_plot, _low, high) => [0, Math.max(LEAST_TOP, high * 1.1)] },
    },
    axes: [
      { ...axis, size: 28, space: 70, values: (_plot, times) => clocksOf(times) },
      { ...axis, size: 52, values: (_plot, rates) => rates.map(formatRate) },
    ],
    series: [
      {},
      {
        stroke: colour('--bar'),
        fill: colour('--bar-fill'),
        width: 2,
        points: { show: false },
        spanGaps: false,
      },
    ],
    hooks: { setCursor: [(plot) => describePoint(plot.cursor.idx)] },
  }
}

/** @param {readonly number[]} times seconds */
function clocksOf(times) {
  const isShort = (times.at(-1) ?? 0) - (times[0] ?? 0) < SHORT_SPAN
  return times.map((time) => formatClock(time * 1_000).slice(0, isShort ? 8 : 5))
}

/**
 * Returns a function that reads the current value of a colour variable of the style sheet. A canvas cannot use the
 * names of the variables.
 * @param {HTMLElement} near
 * @returns {(name: string) => string}
 */
function colourReader(near) {
  return (name) => {
    const probe = create('span')
    probe.style.color = `var(${name})`
    near.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}
