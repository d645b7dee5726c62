export { directionOf, pageWindow } from './page.ts'
