export { images } from './images.ts'
