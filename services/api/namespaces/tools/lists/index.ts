export { countLinksFromCounters, linkList, LINKS } from './link-list.ts'
