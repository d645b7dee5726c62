/** The series of an answer in the Prometheus text format, by name with labels as they stand there. */
export async function readMetrics(response: Response): Promise<ReadonlyMap<string, number>> {
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}
