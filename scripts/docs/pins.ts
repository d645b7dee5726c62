import { images } from '../../services/core/images/index.ts'

/** Files in which `npm run docs:write` replaces the tags of public images. */
export const pinnedFiles = [
  'docker-compose.yml',
  'docker-compose.scale.yml',
  'Dockerfile',
  'docs/operate.md',
  'docs/own-servers.md',
] as const

const NAMES = [...new Set(Object.values(images).map(nameOf))].join('|')

/** An image name with an exact version. Does not match hosts with ports, such as `redis:6379` and `node:8080`. */
const taggedImage = new RegExp(String.raw`(?<![\w./])(?:${NAMES}):v?\d+\.\d[\w.-]*\w`, 'g')

/** Replaces each image tag by the pinned tag; if an image has two pins, by the pin with the same major version. */
export function pinImages(text: string): string {
  return text.replaceAll(taggedImage, (found) => {
    const [first, ...others] = Object.values(images).filter((each) => nameOf(each) === nameOf(found))
    return others.find((each) => majorOf(each) === majorOf(found)) ?? first ?? found
  })
}

function nameOf(image: string): string {
  return image.slice(0, image.indexOf(':'))
}

function majorOf(image: string): string | undefined {
  return /:v?(\d+)/.exec(image)?.[1]
}
