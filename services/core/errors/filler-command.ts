/**
 * A command of the filler as a shell line for the containers. `--no-deps`: the services that it needs run already, and
 * Compose would start and render others again.
 */
export function fillerCommand(words: string): string {
  return `docker compose run --rm --no-deps filler ${words}`
}
