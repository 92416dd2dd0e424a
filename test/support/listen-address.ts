/** `formatListenAddress`: the text of an address that a server listens on. */
import type { ListenAddress } from '../../src/manager/listen-address.ts'
import { urlHost } from '../../src/runtime/listen.ts'

/** Formats an address as `host:port`. An IPv6 address is put in brackets. */
export function formatListenAddress({ host = '', port }: ListenAddress): string {
  return `${urlHost(host)}:${port}`
}
