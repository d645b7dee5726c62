/** Parses a response in the Prometheus text format: values by series name with labels, as written in the text. */
export async function readMetrics(response: Response): Promise<ReadonlyMap<string, number>> {
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}
