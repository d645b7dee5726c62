/**
 * Formats a filler command as a shell line for the containers. `--no-deps`: the required services run already, and
 * Compose would otherwise restart or recreate some.
 */
export function fillerCommand(words: string): string {
  return `docker compose run --rm --no-deps filler ${words}`
}
