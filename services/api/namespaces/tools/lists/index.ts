export { countLinksFromCounters, linkList, LINKS } from './link-list.ts'
export { selectLinkLogs } from './log-list.ts'
