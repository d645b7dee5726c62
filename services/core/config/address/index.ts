export { HOST_ALLOWED, isAddressRange, isHost, splitHostAndPort } from './hosts.ts'
