import { setFlagsFromString } from 'node:v8'

/**
 * Keeps what answers are assembled from among the young objects of V8. Otherwise V8 may conclude from the first lists that
 * their arrays live long, allocate all later ones among the old objects, and with them retain the text of every answer
 * until these are collected: two fifths of the processor time of a page of sales, in some processes and not in others.
 */
export function keepAnswersYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
